import Feed
import JSON
import Prefetch

/// An engine that reads its events as lines of JSON, and answers each with a line: `lookahead plan`.
///
/// A line without `event` is a state (`PlanRequest`): it restarts the engine. A line with `event` is an
/// event. Other lines of a session log (`SessionLog`) are ignored.
public struct PlanSession: Sendable {
  private var engine: PrefetchEngine?

  /// Creates a session without an engine: the first line must be a state.
  public init() {}

  /// The members that identify a line of a log that is neither a state nor an event.
  private static let passed = ["actions", "cut", "left", "seen"]

  /// Returns the actions after this line, as a line of JSON; empty for a line that is ignored.
  ///
  /// - Throws: `RecordError`, which names the field.
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
