import Foundation
import Lab
import Prefetch
import SQLiteStore
import TestSupport
import Testing

/// `lookahead lab`, as a user runs it.
@Suite(.timeLimit(.minutes(5))) struct LabCommandTests {
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
      #expect(run.status == 0 && run.errors.contains("60 items with 60 files; the sizes of 12 are"))
      return run.output
    }
    #expect(csvs[0] == csvs[1] && csvs[1] == csvs[2] && csvs[0].utf8.count > 200)
    let missing = try program.run(["lab", "run", "--feed", "g"] + Self.short)
    #expect(missing.status == 1 && missing.errors.contains("g"), "\(missing.errors)")
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
    (["run", "--strategy", "plain:leading"], "plain:leading: the parameters are no"),
    (["run", "--input", "a", "--feed", "b"], "it is one or the other"),
    (["sweep", "--precision", "1"], "as many repeats as --repeats says"),
    (["sweep", "--price", "-1"], "no whole number from 0 to 1000000"),
    (["sweep", "--budget-kilobytes", "1", "--megabyte-loaders", "1"], "it is one or the other"),
    (["run", "--network", "5g"], "there is no profile \"5g\""),
    (["run", "--repeats", "0"], "0 is less than 1"),
    (["sweep", "--max-cost", "1,,2"], "\"\" is no whole number from 0 to 1000000"),
    (["compare", "--strategy", "endless"], "two strategies are compared"),
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
