import Feed
import JSON
import Prefetch

/// A log of a viewing session, line by line: the events and actions of the engine, and what the user
/// viewed.
///
/// Its first line is a state and its events are lines of `lookahead plan`, so the file is also an input of
/// that command. The engine's actions (`actions`) and the user's views (`seen`, `left`) are lines in
/// between, which the command ignores.
public struct SessionLog: Hashable, Sendable {
  /// A view of an item by the user.
  public struct Look: Hashable, Sendable {
    /// The time.
    public var atMilliseconds: Int
    /// The id of the item.
    @ByBytes public var item: String
    /// Whether the bytes that start the item were present.
    public var isReady: Bool
    /// Whether the user came from below.
    public var isGoingUp: Bool
    /// The duration of the view; `nil` if the log ends before it does.
    public var dwellMilliseconds: Int?
    /// The part of the duration that the user waited for the item.
    public var waitMilliseconds: Int?

    /// Creates a view that has just begun.
    public init(atMilliseconds: Int, item: String, isReady: Bool, isGoingUp: Bool) {
      self.atMilliseconds = atMilliseconds
      self.item = item
      self.isReady = isReady
      self.isGoingUp = isGoingUp
    }
  }

  /// An event and its time.
  public struct Event: Hashable, Sendable {
    /// The time.
    public var atMilliseconds: Int
    /// The event.
    public var event: PrefetchEvent
  }

  /// The start or resumption of a file's transfer by the engine.
  public struct Request: Hashable, Sendable {
    /// The time.
    public var atMilliseconds: Int
    /// The id of the transfer.
    public var transfer: Int
  }

  /// The initial state: the strategy, the settings, the assumed network.
  public private(set) var start: PrefetchSnapshot
  /// The events of the engine, in order: pages with their items, bytes that arrived, bandwidths.
  public private(set) var events: [Event] = []
  /// The requests of the engine, in order.
  public private(set) var requests: [Request] = []
  /// The views of the user, in order.
  public private(set) var looks: [Look] = []
  /// Whether the writer stopped before the session ended, because the log had reached its limit.
  public private(set) var isCut = false

  /// Parses a log. Ignores an incomplete last line, which a killed writer leaves.
  ///
  /// - Throws: `SessionLogError`, which names the line.
  public init(_ bytes: [UInt8]) throws(SessionLogError) {
    var number = 0
    var begun: PrefetchSnapshot?
    var rest = bytes[...]
    start = PrefetchSnapshot(policy: Policy(name: "endless", strategy: .endless))
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = rest[..<end]
      rest = rest[(end + 1)...]
      number += 1
      if line.isEmpty { continue }
      do throws(RecordError) {
        let json: JSONValue
        do throws(JSONError) {
          json = try JSONDocument(Array(line), depthLimit: RecordLimits.depth).root
        } catch {
          throw RecordError(field: "", problem: "is not JSON: \(error)")
        }
        if begun == nil {
          begun = try PlanRequest(json: json, byID: false).snapshot
        } else {
          try take(json)
        }
      } catch {
        throw SessionLogError(line: number, problem: "\(error)")
      }
    }
    guard let begun else { throw SessionLogError(line: 1, problem: "there is no state") }
    start = begun
  }

  private mutating func take(_ json: JSONValue) throws(RecordError) {
    if json.member("event") != nil {
      let (event, at) = try PrefetchEvent.decode(json)
      events.append(Event(atMilliseconds: at, event: event))
    } else if json.member("seen") != nil {
      let fields = try RecordFields(json, known: ["at", "direction", "ready", "seen"])
      let direction: PlanRequest.Direction = try fields.option("direction")
      looks.append(
        Look(
          atMilliseconds: try fields.required("at", in: 0...RecordLimits.number),
          item: try fields.value("seen").id(), isReady: try fields.boolean("ready") ?? false,
          isGoingUp: direction == .up))
    } else if json.member("left") != nil {
      let fields = try RecordFields(json, known: ["at", "dwellMs", "left", "waitMs"])
      let item = try fields.value("left").id()
      guard let last = looks.indices.last, looks[last].item.isSame(as: item) else {
        throw fields.error("left", "is not the item that was viewed")
      }
      looks[last].dwellMilliseconds = try fields.required("dwellMs", in: 0...RecordLimits.number)
      looks[last].waitMilliseconds = try fields.required("waitMs", in: 0...RecordLimits.number)
    } else if json.member("cut") != nil {
      isCut = true
    } else if let actions = json.member("actions") {
      for action in actions.elements {
        guard let at = json.member("at")?.wholeNumber,
          let id = action.member("transfer")?.wholeNumber
        else { continue }
        guard ["fetch", "resume"].contains(action.member("do")?.text) else { continue }
        requests.append(Request(atMilliseconds: at, transfer: id))
      }
    } else {
      throw json.error("is neither an event nor a result of one")
    }
  }
}

/// A line of a log that cannot be read.
public struct SessionLogError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The number of the line, from 1.
  public let line: Int
  /// The problem.
  public let problem: String

  /// Creates an error in this line.
  public init(line: Int, problem: String) {
    self.line = line
    self.problem = problem
  }

  /// The line and the problem.
  public var description: String { "line \(line): \(problem)" }
}

/// The lines of a log, in the form that `SessionLog.init` parses.
extension SessionLog {
  /// Returns the first line: a state without items, with which `lookahead plan` creates an engine like this
  /// one.
  public static func line(beginning engine: PrefetchEngine, at milliseconds: Int) -> [UInt8] {
    line { writer in
      writer.member("at", milliseconds)
      writer.object("strategy") { writer in
        writer.member("name", engine.policy.strategy.name)
        writer.object("parameters") { writer in
          for (name, value) in engine.policy.strategy.parameters {
            writer.key(text: name)
            writer.integer(value)
          }
        }
      }
      writer.member("itemsPerMinute", engine.policy.itemsPerMinute)
      writer.object("settings") { writer in
        for setting in PrefetchSettings.all {
          writer.key(text: setting.name)
          writer.integer(setting.value(in: engine.settings))
        }
      }
    }
  }

  /// Returns the line of an event, followed by the line of the engine's actions if there are any.
  public static func lines(
    _ event: PrefetchEvent, _ actions: [PrefetchAction], at milliseconds: Int
  ) -> [UInt8] {
    var writer = JSONWriter(capacity: 512)
    writer.event(event, at: milliseconds)
    let told = writer.bytes + [UInt8(ascii: "\n")]
    guard !actions.isEmpty else { return told }
    return told
      + line { writer in
        writer.member("at", milliseconds)
        writer.key("actions")
        writer.actions(actions)
      }
  }

  /// Returns the line of a transfer that the engine begins or resumes, with only what `requests` needs.
  static func line(requesting transfer: Int, at milliseconds: Int) -> [UInt8] {
    line { writer in
      writer.member("at", milliseconds)
      writer.array("actions") { writer in
        writer.object { writer in
          writer.member("do", "fetch")
          writer.member("transfer", transfer)
        }
      }
    }
  }

  /// Returns the line of a view that begins.
  public static func line(_ look: Look) -> [UInt8] {
    line { writer in
      writer.member("at", look.atMilliseconds)
      writer.member("seen", look.item)
      writer.flag("ready", look.isReady)
      writer.member("direction", look.isGoingUp ? "up" : "down")
    }
  }

  /// Returns the line of a view that ends.
  public static func line(
    leaving item: String, at milliseconds: Int, dwellMilliseconds: Int, waitMilliseconds: Int
  ) -> [UInt8] {
    line { writer in
      writer.member("at", milliseconds)
      writer.member("left", item)
      writer.member("dwellMs", dwellMilliseconds)
      writer.member("waitMs", waitMilliseconds)
    }
  }

  /// Returns the last line of a log that may not grow: later lines are missing.
  public static func line(cutAt milliseconds: Int) -> [UInt8] {
    line { writer in
      writer.member("at", milliseconds)
      writer.flag("cut", true)
    }
  }

  private static func line(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(capacity: 256)
    writer.object(members)
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}
