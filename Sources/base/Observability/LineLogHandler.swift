import Logging
import System

/// Writes each message of swift-log as one line to a `LogSink`.
///
/// As text: `2026-11-21T05:19:46.123Z info  message key=value key2="with space"`. As JSON:
/// `{"time":"…","level":"info","logger":"lookahead","message":"…","key":"value"}`, where the
/// metadata are members, texts as JSON strings and integers (`.stringConvertible`) as numbers, and a key that is `time`, `level`, `logger` or
/// `message` gets a trailing `_`. Keys are sorted. An error that comes with a message is the
/// metadata `error`.
public struct LineLogHandler: LogHandler {
  /// Messages below it are not written.
  public var logLevel: Logger.Level
  /// What all lines say.
  public var metadata: Logger.Metadata = [:]
  /// What lines say besides, asked for at each.
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

  /// A value that all lines say.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Hands the line to the sink; what the message itself brings goes before what the provider
  /// gives, and that before what all lines say.
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
