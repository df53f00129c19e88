import Feed
import Foundation
import PostJSON
import Prefetch
import TestSupport
import Testing

/// States and events of the engine as lines of JSON.
@Suite struct PlanSessionTests {
  private static let folder = Repository.url("Fixtures/plan")

  private static let vectors = try! FileManager.default.contentsOfDirectory(atPath: folder.path)
    .filter { $0.hasSuffix(".in.ndjson") }.sorted()

  private static func lines(_ name: String) throws -> [Substring] {
    try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      .split(separator: "\n")
  }

  @Test(arguments: vectors)
  func `each vector's input gives its output, to the byte`(_ name: String) throws {
    let outputs = try Self.lines(name.replacing(".in.", with: ".out."))
    var session = PlanSession()
    var count = 0
    for (input, output) in zip(try Self.lines(name), outputs) {
      let answer = try session.answer(Array(input.utf8))
      #expect(String(decoding: answer, as: UTF8.self) == output + "\n", "line \(count + 1)")
      count += 1
    }
    #expect(count == outputs.count && count > 5)
  }

  @Test func `there is a session of every strategy`() {
    #expect(Self.vectors.count == 13)
  }

  typealias Refusal = (line: String, error: String)

  private static let state = #"{"strategy":{"name":"endless"},"items":[]}"#

  @Test(
    arguments: [
      ("", "is not JSON: unexpected end of the text at column 1"),
      ("[]", "is not an object"),
      ("{}", "strategy: is missing"),
      (
        #"{"strategy":{"name":"later"}}"#,
        #"strategy.name: there is no strategy "later"; the known ones are "#
          + Policy.Strategy.usual.map(\.name).joined(separator: ", ")
      ),
      (
        #"{"strategy":{"name":"plain","parameters":{"maxCost":1}}}"#,
        #"strategy.parameters.maxCost: there is no parameter "maxCost""#
      ),
      (
        #"{"strategy":{"name":"plain","parameters":{"leading":101}}}"#,
        #"strategy.parameters.leading: the parameter "leading" cannot be 101, only 0…100"#
      ),
      (
        #"{"strategy":{"name":"endless"},"item":[]}"#,
        "item: unknown field; known fields: active, activeForMs, arm, at, background, direction, feed, "
          + "hasNext, hasPrevious, held, items, itemsPerMinute, network, playback, saveData, scroll, "
          + "settings, strategy, stress, transfers"
      ),
      (
        #"{"strategy":{"name":"endless"},"settings":{"parallelTransfers":0}}"#,
        "settings.parallelTransfers: 0 is not in 1…64"
      ),
      (
        #"{"strategy":{"name":"endless"},"held":[{"key":"a","ranges":["#
          + (0...256).map { "[\(2 * $0),\(2 * $0)]" }.joined(separator: ",") + "]}]}",
        "held[0].ranges: has 257 elements, more than 256"
      ),
      (
        #"{"strategy":{"name":"endless"},"items":[{"id":"a","type":"text"},{"id":"a","type":"text"}]}"#,
        #"items[1]: is "a", a duplicate"#
      ),
      (#"{"strategy":{"name":"endless"},"active":"a"}"#, "active: is not one of the items"),
      (#"{"strategy":{"name":"endless"},"feed":""}"#, "feed: is empty"),
      (
        #"{"strategy":{"name":"endless"},"items":[{"id":"a","type":"text"}],"transfers":[{"id":1,"item":"a","key":"k","from":3},{"id":1,"item":"a","key":"l","from":3}]}"#,
        "transfers[1]: has the id 1 of another transfer"
      ),
      (
        #"{"strategy":{"name":"endless"},"items":[{"id":"a","type":"image","media":[[]]}]}"#,
        "items[0].media[0]: has no file"
      ),
      (
        #"{"strategy":{"name":"endless"},"items":[{"id":"a","type":"image","media":[{"key":"k","kind":"video","bytes":5,"start":{"headBytes":6}}]}]}"#,
        "items[0].media[0].start.headBytes: 6 is not in 0…5, the file's size"
      ),
      (
        #"{"strategy":{"name":"endless"},"held":[{"key":"k","ranges":[[5,4]]}]}"#,
        "held[0].ranges[0]: 5–4 are not the first and the last byte of a range"
      ),
      (
        #"{"strategy":{"name":"endless"},"items":[{"id":"a","type":"text"}],"transfers":[{"id":1,"item":"a","key":"k"}]}"#,
        "transfers[0].range: is missing; for a file without a known end, use from"
      ),
      (
        #"{"strategy":{"name":"plain"},"items":[{"id":"a","type":"text"}],"transfers":[{"id":1,"item":"a","key":"k","from":3,"range":[0,9]}]}"#,
        "transfers[0].from: is only for a file without a known end, but there is a range"
      ),
      (#"{"event":"activeChanged","item":"a"}"#, "at: is missing"),
      (#"{"at":1,"event":"scrolled"}"#, "milliitemsPerSecond: is missing"),
      (
        #"{"at":1,"event":"pageFailed","place":"below","distance":1}"#,
        "distance: is only for the place around"
      ),
      (
        #"{"at":4503599627370497,"event":"timerFired"}"#,
        "at: 4503599627370497 is not in 0…4503599627370496"
      ),
    ] as [Refusal])
  func `what is wrong with a line is said, with the field`(_ sample: Refusal) throws {
    var session = PlanSession()
    _ = try session.answer(Array(Self.state.utf8))
    let error = #expect(throws: RecordError.self) { try session.answer(Array(sample.line.utf8)) }
    #expect(error?.description == sample.error)
    // The engine of before goes on.
    let answer = try session.answer(Array(#"{"at":2,"event":"timerFired"}"#.utf8))
    #expect(String(decoding: answer, as: UTF8.self) == #"{"at":2,"actions":[]}"# + "\n")
  }

  @Test func `a strategy's parameter that is left out has its usual value`() throws {
    func answer(_ strategy: String) throws -> [UInt8] {
      var session = PlanSession()
      return try session.answer(
        Array(
          """
          {"strategy":\(strategy),"items":[{"id":"a","type":"image",\
          "media":[{"key":"a","kind":"image","bytes":9000}]},{"id":"b","type":"image",\
          "media":[{"key":"b","kind":"image","bytes":9000}]}],"active":"a"}
          """.utf8))
    }
    let usual = try answer(#"{"name":"expected-wait","parameters":{"price":250}}"#)
    #expect(try answer(#"{"name":"expected-wait"}"#) == usual)
    #expect(try answer(#"{"name":"expected-wait","parameters":{"leading":12}}"#) == usual)
  }

  /// A moment of two clips, of the first of which six seconds are held.
  private static func moment(
    _ members: String, survival: String = "[[1000,990],[5000,20],[20000,19]]"
  ) throws -> String {
    func clip(_ id: String) -> String {
      """
      {"id":"\(id)","type":"video","survival":\(survival),\
      "media":[{"key":"\(id)","kind":"video","bytes":2000000,"durationMs":20000,\
      "start":{"headBytes":20000,"curve":[[1000,100000],[10000,1000000],[20000,2000000]]}}]}
      """
    }
    var session = PlanSession()
    let answer = try session.answer(
      Array(
        """
        {"items":[\(clip("a")),\(clip("b"))],"active":"a","hasNext":false,\
        "network":{"downlink":1500,"rtt":80},"held":[{"key":"a","ranges":[[0,599999]]}],\(members)}
        """.utf8))
    return String(decoding: answer, as: UTF8.self)
  }

  /// Clips of ten seconds in two bitrates, of which the lower one's first seconds are held, and what is measured.
  typealias Clips = (
    network: String, active: String, playedMilliseconds: Int, heldSeconds: [Int], next: String,
    key: String
  )

  @Test(
    arguments: [
      // The next clip is mostly left within its first second, which is there: the one behind it is watched.
      (
        #""network":{"downlink":1500,"rtt":80},"#, #""active":"a","#, 1_000, [4, 1, 2],
        "[[1000,400],[10000,0]]", "c1"
      ),
      // Of a link of which nothing is known nothing is reckoned.
      ("", #""active":"a","#, 1_000, [4, 1, 2], "[[1000,400],[10000,0]]", "b1"),
      // A clip that plays has never stood, though nothing is held of its best variant.
      (
        #""network":{"downlink":1100,"rtt":80},"#, #""active":"a","#, 2_100, [3, 0, 0],
        "[[5000,900],[10000,0]]", "a1"
      ),
      (
        #""network":{"downlink":1100,"rtt":80},"#, "", 2_100, [3, 0, 0], "[[5000,900],[10000,0]]",
        "a1"
      ),
    ] as [Clips])
  func `a moment tells what was measured, and what plays`(_ clips: Clips) throws {
    func clip(_ id: String, _ held: Int) -> (item: String, held: String) {
      let survival = id == "b" ? clips.next : "[[5000,900],[10000,0]]"
      let files = [(0, 200_000), (1, 100_000)].map { variant, bytes in
        let ends = (1...10).map { "[\($0 * 1_000),\($0 * bytes)]" }.joined(separator: ",")
        return """
          {"key":"\(id)\(variant)","kind":"video","bytes":\(10 * bytes),"durationMs":10000,\
          "start":{"headBytes":\(bytes),"curve":[\(ends)]}}
          """
      }
      return (
        #"{"id":"\#(id)","type":"video","survival":\#(survival),"media":[[\#(files.joined(separator: ","))]]}"#,
        held > 0 ? #"{"key":"\#(id)1","ranges":[[0,\#(held * 100_000 - 1)]]}"# : ""
      )
    }
    let said = zip(["a", "b", "c"], clips.heldSeconds).map { clip($0, $1) }
    let state =
      """
      {"strategy":{"name":"expected-wait"},"settings":{"parallelTransfers":1},\(clips.network)\(clips.active)\
      "items":[\(said.map(\.item).joined(separator: ","))],"activeForMs":\(clips.playedMilliseconds),\
      "playback":{"ms":\(clips.playedMilliseconds),"state":"playing"},\
      "held":[\(said.map(\.held).filter { !$0.isEmpty }.joined(separator: ","))]}
      """
    var session = PlanSession()
    let answer = String(decoding: try session.answer(Array(state.utf8)), as: UTF8.self)
    #expect(answer.contains(#""key":"\#(clips.key)""#), "\(answer)")
  }

  /// The keys of what is to be loaded then.
  private static func fetched(_ members: String) throws -> [String] {
    try moment(members).split(separator: #""key":""#).dropFirst().map {
      String($0.prefix { $0 != "\"" })
    }
  }

  @Test(arguments: ["expected-wait", "pdas", "dashlet"])
  func `for how long an item has been active counts, whatever the client's time is`(
    _ strategy: String
  ) throws {
    func fetched(_ at: String, _ activeMilliseconds: Int) throws -> String? {
      try Self.fetched(
        """
        \(at)"strategy":{"name":"\(strategy)"},"activeForMs":\(activeMilliseconds),\
        "playback":{"ms":\(activeMilliseconds - 80),"state":"playing"}
        """
      ).first
    }
    // Who has stayed so long stays on.
    for at in ["", #""at":0,"#, #""at":3000,"#, #""at":1000000,"#] {
      #expect(try fetched(at, 500) == "b", "\(at)")
      #expect(try fetched(at, 5_500) == "a", "\(at)")
    }
  }

  @Test func `a clip that has stood for long is fed, whatever is held of it`() throws {
    func fetched(_ activeMilliseconds: Int, _ state: String) throws -> [String] {
      try Self.fetched(
        """
        "strategy":{"name":"expected-wait"},"settings":{"parallelTransfers":1},\
        "activeForMs":\(activeMilliseconds),"playback":{"ms":1000,"state":"\(state)"}
        """)
    }
    #expect(try fetched(1_080, "playing") == ["b"])
    #expect(try fetched(1_500, "paused") == ["b"])
    #expect(try fetched(9_000, "paused") == ["a"])
    #expect(try fetched(9_000, "waiting") == ["a"])
  }

  @Test(arguments: ["[[1000,500],[4000,0]]", "[[1000,500],[4000,0],[5000,0],[20000,0]]"])
  func `who watches on where nobody did is fed, however often the curve says so`(_ survival: String)
    throws
  {
    let moment = try Self.moment(
      """
      "strategy":{"name":"expected-wait","parameters":{"leading":0}},\
      "settings":{"parallelTransfers":1},"activeForMs":5080,\
      "playback":{"ms":5000,"state":"playing"}
      """, survival: survival)
    #expect(moment.contains(#""key":"a""#), "\(moment)")
  }

  @Test(arguments: [
    // Nobody knows how long it is.
    ("", true), (#","bytes":200000"#, true), (#","bytes":160000"#, false),
  ])
  func `a state tells where a file has ended`(_ sample: (bytes: String, isAsked: Bool)) throws {
    var session = PlanSession()
    let answer = try session.answer(
      Array(
        """
        {"strategy":{"name":"plain"},"items":[{"id":"a","type":"image","media":[{"key":"a","kind":"image"}]}],\
        "held":[{"key":"a","ranges":[[0,159999]]\(sample.bytes)}]}
        """.utf8))
    let text = String(decoding: answer, as: UTF8.self)
    #expect(
      text.contains(#""do":"fetch""#) == sample.isAsked && text.contains("ready") != sample.isAsked,
      "\(text)")
  }

  @Test
  func `a clip's first frame shows once the decoder has had its time since the item is active`()
    throws
  {
    func shows(_ activeMilliseconds: Int) throws -> Bool {
      try Self.moment(
        #""strategy":{"name":"plain"},"at":5000,"activeForMs":\#(activeMilliseconds),"playback":{"ms":0,"state":"waiting"}"#
      ).contains("showFrame")
    }
    #expect(try !shows(0) && !shows(79) && shows(80) && shows(5_000))
  }

  @Test func `a clip that plays needs no loader`() throws {
    func shows(_ playback: String) throws -> Bool {
      try Self.moment(#""strategy":{"name":"plain"},"activeForMs":40"# + playback)
        .contains("showPlaceholder")
    }
    #expect(try shows("") && shows(#","playback":{"ms":0,"state":"waiting"}"#))
    #expect(try !shows(#","playback":{"ms":500,"state":"playing"}"#))
    #expect(try !shows(#","playback":{"ms":0,"state":"paused"}"#))
  }

  /// A session of one clip of three variants, and what is asked for at each line.
  private static func session(
    _ strategy: String, _ lines: [String]
  ) throws -> [[String]] {
    let files = [4, 2, 1].enumerated().map { index, size in
      """
      {"key":"v\(index)","kind":"video","bytes":\(size)00000,"durationMs":10000,\
      "start":{"headBytes":\(size)0000,"curve":[[5000,\(size * 50_000)]]}}
      """
    }
    let state =
      """
      {"strategy":{"name":"\(strategy)"},"settings":{"parallelTransfers":1},"hasNext":false,\
      "network":{"downlink":4000,"rtt":80},\
      "items":[{"id":"a","type":"video","media":[[\(files.joined(separator: ","))]]}],"active":"a"}
      """
    var session = PlanSession()
    return try ([state] + lines).map {
      let answer = String(decoding: try session.answer(Array($0.utf8)), as: UTF8.self)
      return answer.split(separator: #""key":""#).dropFirst().map {
        String($0.prefix { $0 != "\"" })
      }
    }
  }

  @Test(arguments: ["expected-wait", "plain", "no-save", "tiktok"])
  func `in place of a file that is gone another one of its media is loaded`(_ strategy: String)
    throws
  {
    let asked = try Self.session(
      strategy,
      (1...3).map {
        #"{"at":\#($0)00,"event":"transferFailed","transfer":\#($0),"failure":"gone"}"#
      } + [#"{"at":90000,"event":"timerFired"}"#])
    #expect(Set(asked.prefix(3).compactMap(\.first)) == ["v0", "v1", "v2"], "\(asked)")
    // Then there is none.
    #expect(asked[3].isEmpty && asked[4].isEmpty)
  }

  @Test func `what failed is tried at once on another network, unless its server is busy`() throws {
    func asked(_ failure: String) throws -> [[String]] {
      try Self.session(
        "plain",
        (1...6).flatMap { number in
          [
            #"{"at":\#(number)00000,"event":"transferFailed","transfer":\#(number),"failure":\#(failure)}"#,
            #"{"at":\#(number)90000,"event":"timerFired"}"#,
          ]
        }.dropLast() + [
          #"{"at":600001,"event":"networkChanged","online":false,"metered":false}"#,
          #"{"at":600002,"event":"networkChanged","online":true,"metered":false}"#,
        ])
    }
    let (fetch, none) = (["v0"], [String]())
    let before = [fetch] + (1...5).flatMap { _ in [none, fetch] } + [none]
    #expect(try asked(#""network""#) == before + [none, fetch])
    #expect(try asked(#""busy","retryAfterMs":60000"#) == before + [none, none])
  }

  @Test func `an event before any state is refused`() throws {
    var session = PlanSession()
    let error = #expect(throws: RecordError.self) {
      try session.answer(Array(#"{"at":2,"event":"timerFired"}"#.utf8))
    }
    #expect(error?.description == "event: comes before any state")
  }
}
