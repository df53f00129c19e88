import Feed
import JSON
import Prefetch

/// What a viewing was, line by line: what the engine was told and said, and what the person saw.
///
/// Its first line is a state and its events are lines of `lookahead plan`, so that the file is an input of it;
/// what the engine said (`actions`) and what the person saw (`seen`, `left`) lie between, and are passed over
/// there.
public struct SessionLog: Hashable, Sendable {
  /// An item came before the person's eyes.
  public struct Look: Hashable, Sendable {
    /// When.
    public var atMilliseconds: Int
    /// Which item.
    @ByBytes public var item: String
    /// What starts it was there.
    public var isReady: Bool
    /// The person came from below.
    public var isGoingUp: Bool
    /// For how long it was looked at; `nil` where the log ends before.
    public var dwellMilliseconds: Int?
    /// How much of that the person waited for it.
    public var waitMilliseconds: Int?

    /// A look that has just begun.
    public init(atMilliseconds: Int, item: String, isReady: Bool, isGoingUp: Bool) {
      self.atMilliseconds = atMilliseconds
      self.item = item
      self.isReady = isReady
      self.isGoingUp = isGoingUp
    }
  }

  /// An event, and when it was.
  public struct Event: Hashable, Sendable {
    /// When.
    public var atMilliseconds: Int
    /// What.
    public var event: PrefetchEvent
  }

  /// A file's transfer that the engine began or resumed.
  public struct Request: Hashable, Sendable {
    /// When.
    public var atMilliseconds: Int
    /// Which transfer.
    public var transfer: Int
  }

  /// With what it began: the strategy, the settings, the network as it was taken to be.
  public private(set) var start: PrefetchSnapshot
  /// What the engine was told, in its order: pages with their items, what came, bandwidths.
  public private(set) var events: [Event] = []
  /// What the engine asked for, in its order.
  public private(set) var requests: [Request] = []
  /// What the person looked at, in its order.
  public private(set) var looks: [Look] = []
  /// The writer stopped before the viewing did, for the log had come to its limit.
  public private(set) var isCut = false

  /// The log that the bytes hold. A last line without its end, of a writer that was killed, is passed over.
  ///
  /// - Throws: `SessionLogError`, naming the line.
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
  /// Which one, from 1.
  public let line: Int
  /// What is wrong with it.
  public let problem: String

  /// An error in this line.
  public init(line: Int, problem: String) {
    self.line = line
    self.problem = problem
  }

  /// Names both.
  public var description: String { "line \(line): \(problem)" }
}

/// The lines of a log, as `SessionLog.init` reads them.
extension SessionLog {
  /// The first line: a state without items, by which `lookahead plan` begins an engine like this one.
  public static func line(beginning engine: PrefetchEngine, at milliseconds: Int) -> [UInt8] {
    line { writer in
      writer.member("at", milliseconds)
      writer.key("strategy")
      writer.object { writer in
        writer.member("name", engine.policy.strategy.name)
        writer.key("parameters")
        writer.object { writer in
          for (name, value) in engine.policy.strategy.parameters {
            writer.key(text: name)
            writer.integer(value)
          }
        }
      }
      writer.member("itemsPerMinute", engine.policy.itemsPerMinute)
      writer.key("settings")
      writer.object { writer in
        for setting in PrefetchSettings.all {
          writer.key(text: setting.name)
          writer.integer(setting.value(in: engine.settings))
        }
      }
    }
  }

  /// What the engine was told, and behind it what it said, where it said anything.
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

  /// The engine begins or resumes a transfer: of what it said, what `requests` is of.
  static func line(requesting transfer: Int, at milliseconds: Int) -> [UInt8] {
    line { writer in
      writer.member("at", milliseconds)
      writer.key("actions")
      writer.array { writer in
        writer.object { writer in
          writer.member("do", "fetch")
          writer.member("transfer", transfer)
        }
      }
    }
  }

  /// The person looks at an item.
  public static func line(_ look: Look) -> [UInt8] {
    line { writer in
      writer.member("at", look.atMilliseconds)
      writer.member("seen", look.item)
      writer.flag("ready", look.isReady)
      writer.member("direction", look.isGoingUp ? "up" : "down")
    }
  }

  /// The person has looked at an item.
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

  /// The last line of a log that may not grow: what comes is not in it.
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
