import Feed
import JSON
import Prefetch

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
