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
      ("", "is not JSON: the text ends within a value at column 1"),
      ("[]", "is not an object"),
      ("{}", "strategy: is missing"),
      (
        #"{"strategy":{"name":"later"}}"#,
        #"strategy: there is no strategy "later"; the known ones are "#
          + Policy.Strategy.usual.map(\.name).joined(separator: ", ")
      ),
      (
        #"{"strategy":{"name":"plain","parameters":{"maxCost":1}}}"#,
        #"strategy: there is no parameter "maxCost""#
      ),
      (
        #"{"strategy":{"name":"plain","parameters":{"leading":101}}}"#,
        #"strategy: the parameter "leading" cannot be 101, only 0…100"#
      ),
      (
        #"{"strategy":{"name":"endless"},"item":[]}"#,
        "item: unknown field; the known ones are active, activeForMs, arm, at, background, direction, feed, "
          + "hasNext, hasPrevious, held, items, itemsPerMinute, network, playback, saveData, scroll, "
          + "settings, strategy, stress, transfers"
      ),
      (
        #"{"strategy":{"name":"endless"},"settings":{"parallelTransfers":0}}"#,
        "settings.parallelTransfers: 0 is not in 1…64"
      ),
      (
        #"{"strategy":{"name":"endless"},"items":[{"id":"a","type":"text"},{"id":"a","type":"text"}]}"#,
        #"items: has "a" twice"#
      ),
      (#"{"strategy":{"name":"endless"},"active":"a"}"#, "active: is none of the items"),
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
        "transfers[0].range: is missing; of a file without a known end, from"
      ),
      (#"{"event":"activeChanged","item":"a"}"#, "at: is missing"),
      (#"{"at":1,"event":"scrolled"}"#, "milliitemsPerSecond: is missing"),
      (
        #"{"at":1,"event":"pageFailed","place":"below","distance":1}"#,
        "distance: belongs to the place around alone"
      ),
      (
        #"{"at":9007199254740992,"event":"timerFired"}"#,
        "at: 9007199254740992 is not in 0…9007199254740991"
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

  @Test func `an event before any state is refused`() throws {
    var session = PlanSession()
    let error = #expect(throws: RecordError.self) {
      try session.answer(Array(#"{"at":2,"event":"timerFired"}"#.utf8))
    }
    #expect(error?.description == "event: comes before any state")
  }
}
