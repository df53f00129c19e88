import Feed
import JSON
import Prefetch

/// An engine that is told its events as lines of JSON, and answers each with a line: `lookahead plan`.
///
/// A line without `event` is a moment (`PlanRequest`): it begins the engine anew. A line with `event` is what
/// happened then. What a log of a session has beside these (`SessionLog`) is passed over.
public struct PlanSession: Sendable {
  private var engine: PrefetchEngine?

  /// No engine yet: the first line is a moment.
  public init() {}

  /// The members by which a line of a log is told that is neither a state nor an event.
  private static let passed = ["actions", "cut", "left", "seen"]

  /// What is to be done after this line, as a line of JSON; nothing for one that is passed over.
  ///
  /// - Throws: `RecordError`, naming the field.
  public mutating func answer(_ line: [UInt8]) throws(RecordError) -> [UInt8] {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONDocument(line, depthLimit: RecordLimits.depth).root
    } catch {
      throw RecordError(field: "", problem: "is not JSON: \(error)")
    }
    if Self.passed.contains(where: { json.member($0) != nil }) { return [] }
    let actions: [PrefetchAction]
    let time: Int
    if json.member("event") == nil {
      let request = try PlanRequest(json: json, byID: false)
      var new = PrefetchEngine(request.snapshot)
      (actions, time) = (new.decide(), request.snapshot.atMilliseconds)
      engine = new
    } else {
      let (event, at) = try PrefetchEvent.decode(json)
      guard var known = engine.take() else {
        throw RecordError(field: "event", problem: "comes before any state")
      }
      (actions, time) = (known.handle(event, atMilliseconds: at), at)
      engine = known
    }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("at", time)
      writer.key("actions")
      writer.actions(actions)
    }
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}
