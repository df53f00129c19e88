import Foundation
import Lab
import Prefetch
import SHA2
import SQLiteStore
import TestSupport
import Testing

/// `lookahead lab`, as a user runs it.
@Suite struct LabCommandTests {
  private static let short = ["--items", "40", "--repeats", "4", "--seed", "7"]

  @Test func `one core and two give the same bytes, in each format`() throws {
    let program = Program()
    for format in ["table", "csv", "json"] {
      let outputs = try ["1", "2"].map { jobs in
        let outcome = try program.run(
          ["lab", "sweep", "--max-cost", "1,5", "--video-cost", "2", "--image-cost", "1,2"]
            + Self.short + ["--format", format, "--jobs", jobs])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.output
      }
      #expect(outputs[0] == outputs[1] && outputs[0].utf8.count > 300)
    }
  }

  @Test func `a run tells what the first strategy did and why`() throws {
    let outcome = try Program().run(
      ["lab", "run", "--strategy", "plain:leading=2", "--explain"] + Self.short)
    #expect(outcome.status == 0)
    for words in ["the viewer looks at p0: loader", "fetch 1: 0..<", "the page of items 0..<30"] {
      #expect(outcome.output.contains(words), "\(words)")
    }
  }

  @Test func `what clients get that know the path is named so`() throws {
    let run = ["lab", "run", "--strategy", "plain", "--format", "csv"] + Self.short
    let program = Program()
    let known = try program.run(run + ["--path-known"])
    #expect(known.status == 0, "\(known.errors)")
    #expect(known.output.contains(" (path known)"), "\(known.output)")
    #expect(try !program.run(run).output.contains("path known"))
  }

  @Test func `a feed is the same from its database, its page and its records`() throws {
    let program = Program()
    let records = (1...60).map { index in
      let isClip = index % 3 == 0
      let size = index % 5 == 0 ? "" : #","bytes":\#(20_000 + index * 1_000)"#
      return
        #"{"id":"p\#(index)","feeds":[{"name":"f","rank":\#(index)}],"type":"\#(isClip ? "video" : "image")","#
        + #""media":[{"kind":"\#(isClip ? "video" : "image")","url":"/media/\#(index)"\#(size)"#
        + (isClip ? #","durationMs":\#(index * 300)}]}"# : "}]}")
    }
    let file = try program.folder.write(records.joined(separator: "\n"), to: "f.ndjson")
    #expect(try program.run("seed", file).status == 0)
    let server = try ServingProgram(program)
    let page = try TestClient(port: server.port).get("/rp/?feed=f&limit=100").text
    let saved = try program.folder.write(page, to: "page.json")
    let csvs = try [["--feed", "f"], ["--input", saved], ["--input", file]].map { input in
      let run = try program.run(
        ["lab", "run", "--strategy", "plain", "--format", "csv"] + input + Self.short)
      #expect(run.status == 0 && run.errors.contains("60 items with 60 files; 12 sizes are"))
      return run.output
    }
    #expect(csvs[0] == csvs[1] && csvs[1] == csvs[2] && csvs[0].utf8.count > 200)
    let missing = try program.run(["lab", "run", "--feed", "g"] + Self.short)
    #expect(missing.status == 1 && missing.errors.contains("g"), "\(missing.errors)")
  }

  @Test func `a session that was recorded is scrolled again, as it was`() throws {
    let program = Program()
    let items = (0..<4).map {
      #"{"id":"s\#($0)","type":"image","media":[{"key":"/\#($0)","kind":"image","bytes":30000}]}"#
    }
    let log = try program.folder.write(
      """
      {"at":0,"strategy":{"name":"plain","parameters":{"leading":2}},"itemsPerMinute":60,"settings":{}}
      {"event":"pageArrived","at":5,"place":"anew","items":[\(items.joined(separator: ","))],"hasPrevious":false,"hasNext":false}
      {"at":6,"seen":"s0","ready":false,"direction":"down"}
      {"at":906,"left":"s0","dwellMs":900,"waitMs":400}
      {"at":906,"seen":"s2","ready":false,"direction":"down"}
      {"at":1906,"left":"s2","dwellMs":1000,"waitMs":0}
      {"at":1906,"seen":"s1","ready":true,"direction":"up"}
      {"at":2406,"left":"s1","dwellMs":500,"waitMs":0}
      {"at":2406,"se
      """, to: "session.ndjson")
    let run = try program.run(
      ["lab", "run", "--strategy", "plain", "--input", log, "--explain"])
    #expect(run.status == 0, "\(run.errors)")
    let looks = run.output.matches(of: /([0-9.]+) s  the viewer looks at (s\d)/)
    #expect(looks.map { String($0.output.2) } == ["s0", "s2", "s1"])
    let times = try looks.map { try #require(Double($0.output.1)) }
    #expect(abs(times[1] - times[0] - 0.9) < 0.002 && abs(times[2] - times[1] - 1) < 0.002)
    #expect(run.output.contains("3 items viewed: "))
  }

  @Test func `a report is a page and its figures`() throws {
    let program = Program()
    let (page, csv) = (program.folder.file("r.html"), program.folder.file("r.csv"))
    let arguments = [
      "lab", "report", "--strategy", "plain", "--strategy", "expected-wait", "--price", "500,5000",
      "--max-cost", "1,5", "--video-cost", "2", "--image-cost", "1", "--output", page, "--csv", csv,
    ]
    #expect(try program.run(arguments + Self.short).status == 0)
    let html = try String(contentsOfFile: page, encoding: .utf8)
    let hash = Data(SHA256.hash(Array(LabReport.style.utf8))).base64EncodedString()
    #expect(html.contains("style-src 'sha256-\(hash)'") && html.hasSuffix("</html>\n"))
    #expect(
      html.contains("expected-wait:price=5000") && html.contains("at most a cost of 5 at once"))
    let rows = try String(contentsOfFile: csv, encoding: .utf8).components(separatedBy: "\r\n")
    #expect(rows.count == 1 + 5 * 4 + 1)
    let nowhere = try program.run(
      ["lab", "report", "--without-grid", "--strategy", "endless", "--output", "/nonexistent/r"]
        + Self.short)
    #expect(nowhere.status == 1 && nowhere.errors.contains("/nonexistent/r: cannot be written"))
  }

  @Test func `what a sweep finds becomes a feed's policy, and is taken back`() throws {
    let program = Program()
    #expect(try program.run(["seed", "--generate", "50"]).status == 0)
    let swept = try program.run(
      [
        "lab", "sweep", "--network", "dsl", "--max-cost", "0,5", "--video-cost", "2",
        "--image-cost", "1", "--megabyte-loaders", "1000000", "--format", "json",
      ] + Self.short)
    #expect(swept.status == 0, "\(swept.errors)")
    let file = try program.folder.write(swept.output, to: "better.json")
    let applied = try program.run(["lab", "apply", file, "--network", "3g"])
    #expect(applied.status == 0, "\(applied.errors)")
    #expect(
      applied.output == """
        the policy of all feeds without one of their own on 3g is max=0 video=2 image=1: \
        weighted:leading=20,maxCost=0, an image counts 1, a video 2

        """)
    let undone = try program.run(["lab", "apply", "--undo", "--network", "3g"])
    #expect(undone.status == 0 && undone.output.contains("is expected-wait: "), "\(undone)")
    let again = try program.run(["lab", "apply", "--undo", "--network", "3g"])
    #expect(again.status == 1 && again.errors.contains("there is no applied setting"))
    let unknown = try program.run(["lab", "apply", file, "--network", "5g"])
    #expect(unknown.status == 1 && unknown.errors.contains("there is no network \"5g\"; known"))
    let neither = try program.run(["lab", "apply", "--network", "3g"])
    #expect(neither.status == 64 && neither.errors.contains("either a FILE to apply or --undo"))
    // The current setting is the best where nothing costs anything.
    let stays = try program.run(
      [
        "lab", "sweep", "--max-cost", "5", "--video-cost", "2", "--image-cost", "1", "--format",
        "json",
      ]
        + Self.short)
    let same = try program.folder.write(stays.output, to: "same.json")
    let nothing = try program.run(["lab", "apply", same, "--network", "3g"])
    #expect(nothing.status == 1 && nothing.errors.contains("nothing better than the current"))
  }

  @Test func `the simulation is held against the client library on a server`() throws {
    let program = Program()
    let fixtures = Repository.url("Fixtures")
    #expect(try program.run("seed", fixtures.path + "/featured.ndjson").status == 0)
    let server = try ServingProgram(program, ["--media-root", fixtures.path + "/media"])
    let run = try program.run([
      "lab", "validate", "http://127.0.0.1:\(server.port)", "--feed", "featured", "--items", "25",
      "--network", "dsl", "--speed", "4", "--strategy", "endless", "--strategy", "plain:leading=4",
      "--margin", "200",
    ])
    #expect(run.errors.contains("featured: 30 items with"), "\(run.errors)")
    let row = try #require(
      run.output.firstMatch(of: #/endless +([0-9.]+) +([0-9.]+) /#), "\(run)")
    // Without loading ahead whatever takes more than a moment is waited for, for real and simulated.
    #expect(try #require(Double(row.output.1)) > 700 && #require(Double(row.output.2)) > 700)
    #expect(run.output.contains("rank correlation ") && run.output.contains("mean error "))
    #expect(run.output.contains("the simulation holds") == (run.status == 0))
    let nowhere = try program.run(["lab", "validate", "http://127.0.0.1:1", "--items", "1"])
    #expect(nowhere.status == 1 && nowhere.output.isEmpty)
    let pace = try program.run(["lab", "validate", "http://127.0.0.1:1", "--pace", "soon"])
    #expect(pace.status == 64 && pace.errors.contains("--pace"))
  }

  @Test func `two strategies are compared until it is clear`() throws {
    let outcome = try Program().run([
      "lab", "compare", "--strategy", "endless", "--strategy", "plain:leading=3",
      "--network", "dsl", "--items", "40", "--repeats", "100",
    ])
    #expect(outcome.status == 0)
    #expect(outcome.output.hasPrefix("plain:leading=3 is better than endless: -"))
    let looks = try #require(outcome.output.firstMatch(of: /after (\d+) looks/)?.output.1)
    #expect(try #require(Int(looks)) < 20)
  }

  @Test func `recorded networks are played, and what is none is named`() throws {
    let program = Program()
    _ = try program.folder.write(
      #"[{"duration_ms": 1000, "bandwidth_kbps": 900, "latency_ms": 100}]"#, to: "a.json")
    let folder = program.folder.file("a.json").dropLast("a.json".count)
    let run = try program.run(
      ["lab", "run", "--trace", String(folder), "--strategy", "endless"] + Self.short)
    #expect(run.status == 0 && run.output.contains("\na        endless"), "\(run)")
    _ = try program.folder.write(#"[{"duration_ms": 0}]"#, to: "b.json")
    let broken = try program.run(
      ["lab", "run", "--trace", program.folder.file("b.json"), "--strategy", "endless"])
    #expect(broken.status == 1 && broken.errors.contains("b.json: step 0 of the trace: bandwidth"))
  }

  @Test(arguments: [
    (["run", "--strategy", "fastest"], "there is no strategy \"fastest\""),
    (["run", "--strategy", "plain:lead=5"], "there is no parameter \"lead\""),
    (["run", "--strategy", "plain:leading"], "plain:leading: the parameters are not"),
    (["run", "--input", "a", "--feed", "b"], "exclude each other"),
    (["run", "--bitrates", "--feed", "b"], "--bitrates generates a feed"),
    (["run", "--bitrates", "--watch", "w"], "--bitrates and --watch exclude each other"),
    (["run", "--strategy", "clairvoyant", "--explain"], "clairvoyant is a bound"),
    (["sweep", "--by", "delay", "--megabyte-loaders", "1"], "--by delay exclude each other"),
    (["sweep", "--precision", "1"], "a sweep takes --repeats"),
    (["sweep", "--price", "1,x"], "not a whole number from 0 to 1000000"),
    (["sweep", "--budget-kilobytes", "1", "--megabyte-loaders", "1"], "exclude each other"),
    (["run", "--network", "5g"], "there is no profile \"5g\""),
    (["run", "--bitrates", "--network", "5g"], "offline, high, medium, low"),
    (["run", "--network", "high"], "there is no profile \"high\""),
    (["run", "--decoder-milliseconds", "600001"], "600001 is more than 60000"),
    (["run", "--repeats", "0"], "0 is less than 1"),
    (["sweep", "--max-cost", "1,,2"], "\"\" is not a whole number from 0 to 1000000"),
    (["compare", "--strategy", "endless"], "two strategies to compare"),
  ]) func `what cannot be measured is refused in words`(arguments: [String], words: String) throws {
    let outcome = try Program().run(["lab"] + arguments)
    #expect(outcome.status == 64 && outcome.errors.contains(words), "\(outcome.errors)")
  }

  @Test func `the lab's profiles are those of a new database`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    let networks = try store.snapshot().policyBook.networks
    let usual = NetworkProfile.usual
    #expect(networks.sorted { $0.name < $1.name } == usual.sorted { $0.name < $1.name })
  }
}
