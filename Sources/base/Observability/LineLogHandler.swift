import Logging
import System

/// Writes each message of swift-log as one line to a `LogSink`.
///
/// As text: `2026-11-21T05:19:46.123Z info  message key=value key2="with space"`. As JSON:
/// `{"time":"…","level":"info","logger":"lookahead","message":"…","key":"value"}`. The metadata are members,
/// with texts as JSON strings and integers (`.stringConvertible`) as numbers; a key that is `time`, `level`,
/// `logger` or `message` gets a trailing `_`. Keys are sorted. The error of a message becomes the metadata
/// `error`.
public struct LineLogHandler: LogHandler {
  /// The minimum level of messages that are written.
  public var logLevel: Logger.Level
  /// The metadata of all lines.
  public var metadata: Logger.Metadata = [:]
  /// The provider of further metadata, which is asked for each line.
  public var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let sink: LogSink
  private let now: @Sendable () -> Int

  /// A handler for the logger of this label.
  ///
  /// - Parameter now: The time of day in nanoseconds since 1970.
  public init(
    label: String, sink: LogSink, logLevel: Logger.Level = .info,
    metadataProvider: Logger.MetadataProvider? = nil,
    now: @escaping @Sendable () -> Int = { WallClock.exactNow.nanosecondsSince1970 }
  ) {
    self.label = label
    self.sink = sink
    self.logLevel = logLevel
    self.metadataProvider = metadataProvider
    self.now = now
  }

  /// The metadata of all lines for one key.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Passes the line to the sink. The message's own metadata take precedence over the provider's, and those
  /// over the metadata of all lines.
  public func log(event: LogEvent) {
    var merged = metadata
    if let provided = metadataProvider?.get() { merged.merge(provided) { $1 } }
    if let given = event.metadata { merged.merge(given) { $1 } }
    if let error = event.error { merged["error"] = "\(error)" }
    let line = LogLine(
      nanosecondsSince1970: now(), level: event.level, logger: label,
      message: event.message.description, metadata: merged)
    sink.append(line.bytes(sink.format))
  }
}
