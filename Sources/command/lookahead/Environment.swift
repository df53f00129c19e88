import ArgumentParser
import Foundation
import Logging
import Synchronization

/// Defaults of options from `LOOKAHEAD_…` variables; each is asked for by the name of its option.
///
/// An option's default is read when its command is declared, where nothing can be thrown; what could
/// not be read is kept and thrown when the command validates its arguments.
enum Environment {
  /// By the name of their option. Read once: Foundation builds the dictionary again on each call, and each option is asked for
  /// many times while arguments are parsed.
  private static let variables: [String: String] = {
    let named = ProcessInfo.processInfo.environment.compactMap { name, text in
      let option = String(name.dropFirst(prefix.count).lowercased().map { $0 == "_" ? "-" : $0 })
      return variable(option) == name ? (option, text) : nil
    }
    return Dictionary(uniqueKeysWithValues: named)
  }()
  private static let problems = Mutex<[String: String]>([:])

  /// The variable's text.
  static func text(_ name: String, default fallback: String) -> String {
    value(name) ?? fallback
  }

  /// The variable's text, where it is set.
  static func text(_ name: String) -> String? {
    value(name)
  }

  /// The variable's whole number.
  static func number<Number: FixedWidthInteger>(
    _ name: String, default fallback: Number
  ) -> Number {
    guard let text = value(name) else { return fallback }
    if let number = Number(text) { return number }
    note(name, "\"\(text)\" is not a whole number")
    return fallback
  }

  /// The variable's truth: `1`, `true`, `yes`, `on` or their opposites.
  static func flag(_ name: String, default fallback: Bool = false) -> Bool {
    guard let text = value(name) else { return fallback }
    switch text.lowercased() {
    case "1", "true", "yes", "on": return true
    case "0", "false", "no", "off": return false
    default:
      note(name, "\"\(text)\" is neither true nor false")
      return fallback
    }
  }

  /// One of a few words.
  static func option<Option: RawRepresentable & CaseIterable>(_ name: String) -> Option?
  where Option.RawValue == String {
    guard let text = value(name) else { return nil }
    if let option = Option(rawValue: text.lowercased()) { return option }
    let known = Option.allCases.map(\.rawValue).joined(separator: ", ")
    note(name, "\"\(text)\" is not one of \(known)")
    return nil
  }

  /// The variable's log level.
  static func logLevel(_ name: String, default fallback: Logger.Level) -> Logger.Level {
    guard let text = value(name) else { return fallback }
    if let level = Logger.Level(rawValue: text.lowercased()) { return level }
    note(name, "\"\(text)\" is not a log level")
    return fallback
  }

  /// Throws what could not be read of these variables.
  static func validate() throws {
    if let problem = problems.withLock({ $0.sorted { $0.key < $1.key }.first?.value }) {
      throw ValidationError(problem)
    }
  }

  private static let prefix = "LOOKAHEAD_"

  /// The variable of an option.
  static func variable(_ name: String) -> String {
    prefix + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
  }

  /// An empty variable is an unset one, as in a container's settings.
  private static func value(_ name: String) -> String? {
    guard let text = variables[name], !text.isEmpty else { return nil }
    return text
  }

  private static func note(_ name: String, _ problem: String) {
    problems.withLock { $0[name] = "\(variable(name)): \(problem)" }
  }
}
