import Feed
import JSON
import PostJSON
import Reports
import TestSupport
import Testing

/// Parts of sessions as JSON.
@Suite struct ReportPartTests {
  private static let session = #""session":"0123456789abcdef""#

  private static func random(_ random: inout TestRandom) -> ReportPart {
    var part = ReportPart(
      session: "0123456789abcdef\(Int.random(in: 0...999, using: &random))",
      part: Int.random(in: 0..<ReportLimits.parts, using: &random))
    part.ageMilliseconds = Int.random(in: 0...5_000, using: &random)
    part.feed = ["", "featured", "e\u{301}"].randomElement(using: &random)!
    part.policy = ["", "weighted-5"].randomElement(using: &random)!
    part.arm = ["", "b"].randomElement(using: &random)!
    part.client = ["", "lookahead.js 0.1.0"].randomElement(using: &random)!
    part.downlinkKbps = Bool.random(using: &random) ? 780 : nil
    part.roundTripMilliseconds = Bool.random(using: &random) ? 200 : nil
    part.profile = Bool.random(using: &random) ? "3g" : nil
    part.sinceMilliseconds = Int.random(in: 0...1_000, using: &random)
    part.untilMilliseconds = part.sinceMilliseconds + 30_000
    part.figures.items = Int.random(in: 20...100, using: &random)
    for kind in LoaderKind.allCases {
      part.figures.loaders[kind] = Int.random(in: 0...9, using: &random)
    }
    for _ in 0..<Int.random(in: 0...part.figures.loaders.total, using: &random) {
      part.figures.waits.add(milliseconds: Double.random(in: 0...9_000, using: &random))
    }
    for _ in 0..<Int.random(in: 0...20, using: &random) {
      part.figures.frames.add(milliseconds: Double.random(in: 0...900, using: &random))
    }
    part.figures.stalls = Int.random(in: 0...3, using: &random)
    part.figures.stalledMilliseconds = Int.random(in: 0...9_000, using: &random)
    for fate in ByteFate.allCases {
      part.figures.bytes[fate] = Int.random(in: 0...1_000_000, using: &random)
    }
    part.figures.requests = Int.random(in: 0...99, using: &random)
    part.figures.plans = Int.random(in: 0...9, using: &random)
    if part.part > 0 {
      var before = SessionTotals()
      before[.items] = Int.random(in: 1...10, using: &random)
      before[.waiting] = Int.random(in: 0...1_000_000, using: &random)
      before[.bytes] = Int.random(in: 0...1_000_000_000_000, using: &random)
      part.before = before
    }
    part.seen = (0..<Int.random(in: 0...20, using: &random)).map { _ in seen(&random) }
    return part
  }

  private static func seen(_ random: inout TestRandom) -> SeenItem {
    func time() -> Int? {
      Bool.random(using: &random) ? Int.random(in: 0...30_000, using: &random) : nil
    }
    var seen = SeenItem(id: ["a", "e\u{301}"].randomElement(using: &random)!)
    seen.variant = Bool.random(using: &random) ? Int.random(in: 0...15, using: &random) : nil
    seen.heldBytes = Int.random(in: 0...9, using: &random)
    seen.neededBytes = Int.random(in: 0...9, using: &random)
    (seen.readyMilliseconds, seen.frameMilliseconds) = (time(), time())
    seen.watchedMilliseconds = time() ?? 0
    seen.hasLeftWaiting = Bool.random(using: &random)
    return seen
  }

  @Test(arguments: TestRandom.seeds)
  func `what a client writes, the server reads`(_ seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<200 {
      let part = Self.random(&random)
      var writer = JSONWriter()
      writer.part(part)
      #expect(try ReportPart(json: writer.bytes) == part, "seed \(seed)")
    }
  }

  @Test(arguments: [
    ("[]", "", "is not an object"),
    ("{", "", "is not JSON"),
    (#"{"part":0}"#, "session", "is missing"),
    (#"{"session":"short","part":0}"#, "session", "has 5 bytes, fewer than 16"),
    ("{\(ReportPartTests.session)}", "part", "is missing"),
    ("{\(ReportPartTests.session),\"part\":2880}", "part", "2880 is not in 0…2879"),
    ("{\(ReportPartTests.session),\"part\":0,\"item\":1}", "item", "unknown field"),
    ("{\(ReportPartTests.session),\"part\":0,\"items\":1001}", "items", "1001 is not in 0…1000"),
    (
      "{\(ReportPartTests.session),\"part\":0,\"until\":1000,\"items\":61}", "items",
      "61 items in 1000 ms"
    ),
    ("{\(ReportPartTests.session),\"part\":0,\"since\":2,\"until\":1}", "until", "is before since"),
    (
      "{\(ReportPartTests.session),\"part\":0,\"items\":1,\"loaders\":{\"image\":2}}", "loaders",
      "counts 2 items of 1"
    ),
    (
      "{\(ReportPartTests.session),\"part\":0,\"loaders\":{\"images\":2}}", "loaders.images",
      "unknown field"
    ),
    (
      "{\(ReportPartTests.session),\"part\":0,\"waitMs\":[[5,1]]}", "waitMs",
      "more waits than loaders"
    ),
    ("{\(ReportPartTests.session),\"part\":0,\"frameMs\":[[5,1]]}", "frameMs", "more first frames"),
    (
      "{\(ReportPartTests.session),\"part\":0,\"waitMs\":[[160,1]]}", "waitMs[0][0]",
      "is not a bin of 0…159"
    ),
    (
      "{\(ReportPartTests.session),\"part\":0,\"waitMs\":[[1,0]]}", "waitMs[0][1]",
      "0 is not in 1…10000"
    ),
    ("{\(ReportPartTests.session),\"part\":0,\"waitMs\":[1]}", "waitMs[0]", "is not a list"),
    (
      "{\(ReportPartTests.session),\"part\":0,\"until\":10,\"stalledMs\":11}", "stalledMs",
      "is longer than the part"
    ),
    (
      "{\(ReportPartTests.session),\"part\":0,\"before\":{\"items\":1}}", "before",
      "is not allowed in the first part of a session"
    ),
    (
      "{\(ReportPartTests.session),\"part\":1,\"since\":100,\"before\":{\"items\":16}}",
      "before.items", "16 items in 100 ms"
    ),
    (
      "{\(ReportPartTests.session),\"part\":1,\"since\":100,\"before\":{\"stalledMs\":101}}",
      "before.stalledMs", "is longer than the session"
    ),
    ("{\(ReportPartTests.session),\"part\":1,\"before\":{\"x\":1}}", "before.x", "unknown field"),
    (
      "{\(ReportPartTests.session),\"part\":0,\"bytes\":{\"seen\":-1}}", "bytes.seen",
      "-1 is not in"
    ),
    ("{\(ReportPartTests.session),\"part\":0,\"feed\":\"a\\u0007\"}", "feed", "control character"),
    ("{\(ReportPartTests.session),\"part\":0,\"ageMs\":86400001}", "ageMs", "is not in"),
    ("{\(ReportPartTests.session),\"part\":0,\"items\":1,\"seen\":[{}]}", "seen[0].id", "missing"),
    (
      "{\(ReportPartTests.session),\"part\":0,\"seen\":[{\"id\":\"a\"}]}", "seen",
      "has 1 items of 0"
    ),
    (
      "{\(ReportPartTests.session),\"part\":0,\"until\":9,\"items\":1,"
        + "\"seen\":[{\"id\":\"a\",\"watchedMs\":10}]}",
      "seen[0].watchedMs", "longer than the session"
    ),
    (
      "{\(ReportPartTests.session),\"part\":0,\"items\":1,\"seen\":[{\"id\":\"a\",\"variant\":16}]}",
      "seen[0].variant", "16 is not in 0…15"
    ),
    (
      "{\(ReportPartTests.session),\"part\":0,\"items\":1,\"seen\":[{\"id\":\"a\",\"held\":1}]}",
      "seen[0].held", "unknown field"
    ),
    (
      "{\(ReportPartTests.session),\"part\":0,\"items\":999,\"seen\":["
        + (0..<201).map { "{\"id\":\"\($0)\"}" }.joined(separator: ",") + "]}",
      "seen", "has 201 elements, more than 200"
    ),
  ])
  func `what is impossible is refused by name`(
    _ json: String, _ field: String, _ words: String
  ) throws {
    let error = #expect(throws: RecordError.self) { try ReportPart(json: Array(json.utf8)) }
    #expect(error?.field == field, "\(error!)")
    #expect(error?.problem.contains(words) == true, "\(error!)")
  }
}
