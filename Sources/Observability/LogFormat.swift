import System

/// How lines of a log are written.
public enum LogFormat: String, Sendable, CaseIterable {
  /// For people at a terminal: time, level, message, `key=value`.
  case text
  /// For programs: a JSON object a line (RFC 8259).
  case json

  /// Text where the descriptor is a terminal (`isatty(3)`), JSON otherwise.
  public static func suitable(forDescriptor descriptor: Int32) -> LogFormat {
    Descriptor.isTerminal(descriptor) ? .text : .json
  }
}
