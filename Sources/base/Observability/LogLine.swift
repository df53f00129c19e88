import Logging
import System

/// A message with its metadata, to be written as a line.
struct LogLine {
  let nanosecondsSince1970: Int
  let level: Logger.Level
  let logger: String
  let message: String
  let metadata: Logger.Metadata

  /// The members of the JSON form that metadata cannot replace.
  private static let reservedKeys: Set<String> = ["time", "level", "logger", "message"]

  /// The line without its line feed.
  func bytes(_ format: LogFormat) -> [UInt8] {
    var writer = LineWriter()
    switch format {
    case .text: writeText(to: &writer)
    case .json: writeJSON(to: &writer)
    }
    return writer.bytes
  }

  /// Writes the text form: `2026-11-21T05:19:46.123Z info  message key=value`.
  private func writeText(to writer: inout LineWriter) {
    writer.time(nanosecondsSince1970)
    writer.syntax(" ")
    writer.plain(level.rawValue)
    for _ in level.rawValue.utf8.count..<max(5, level.rawValue.utf8.count) { writer.syntax(" ") }
    writer.syntax(" ")
    writer.plain(message)
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      writer.syntax(" ")
      writer.word(key)
      writer.syntax("=")
      switch value {
      case .string(let text): writer.word(text)
      case .stringConvertible(let value): writer.word(value.description)
      case .dictionary, .array: writer.metadata(value)
      }
    }
  }

  /// Writes the JSON form: `{"time":"…","level":"info","logger":"…","message":"…","key":"value"}`.
  private func writeJSON(to writer: inout LineWriter) {
    writer.syntax("{\"time\":\"")
    writer.time(nanosecondsSince1970)
    writer.syntax("\",\"level\":")
    writer.quoted(level.rawValue)
    writer.syntax(",\"logger\":")
    writer.quoted(logger)
    writer.syntax(",\"message\":")
    writer.quoted(message)
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      writer.syntax(",")
      writer.quoted(free(key))
      writer.syntax(":")
      writer.metadata(value)
    }
    writer.syntax("}")
  }

  /// The key, with a trailing `_` if it is reserved, and more until it differs from all other keys.
  private func free(_ key: String) -> String {
    guard Self.reservedKeys.contains(key) else { return key }
    var free = key + "_"
    while metadata[free] != nil { free += "_" }
    return free
  }
}

extension LineWriter {
  /// Appends a metadata value as JSON: a text, a whole number, an object with sorted keys, or an array.
  fileprivate mutating func metadata(_ value: Logger.Metadata.Value) {
    switch value {
    case .string(let text): quoted(text)
    case .stringConvertible(let value as any FixedWidthInteger): plain(value.description)
    case .stringConvertible(let value): quoted(value.description)
    case .dictionary(let members):
      syntax("{")
      for (index, (key, value)) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { syntax(",") }
        quoted(key)
        syntax(":")
        metadata(value)
      }
      syntax("}")
    case .array(let values):
      syntax("[")
      for (index, value) in values.enumerated() {
        if index > 0 { syntax(",") }
        metadata(value)
      }
      syntax("]")
    }
  }
}

/// The format of log lines.
public enum LogFormat: String, Sendable, CaseIterable {
  /// For people at a terminal: time, level, message, `key=value`.
  case text
  /// For programs: one JSON object per line (RFC 8259).
  case json

  /// Text if the descriptor is a terminal (`isatty(3)`), JSON otherwise.
  public static func suitable(forDescriptor descriptor: Int32) -> LogFormat {
    Descriptor.isTerminal(descriptor) ? .text : .json
  }
}
