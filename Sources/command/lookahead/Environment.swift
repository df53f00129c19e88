import ArgumentParser
import Foundation
import Logging
import Synchronization

/// Defaults of options from `LOOKAHEAD_…` variables, by the names of the options.
///
/// An option's default is read when its command is declared, where no error can be thrown; errors are stored
/// and thrown when the command validates its arguments.
enum Environment {
  /// The variables, by the names of their options. Read once: Foundation creates the dictionary on each call,
  /// and parsing arguments reads each option many times.
  private static let variables: [String: String] = {
    let named = ProcessInfo.processInfo.environment.compactMap { name, text in
      let option = String(name.dropFirst(prefix.count).lowercased().map { $0 == "_" ? "-" : $0 })
      return variable(option) == name ? (option, text) : nil
    }
    return Dictionary(uniqueKeysWithValues: named)
  }()
  private static let problems = Mutex<[String: String]>([:])

  /// The text of the variable, or the default.
  static func text(_ name: String, default fallback: String) -> String {
    value(name) ?? fallback
  }

  /// The text of the variable; `nil` if it is not set.
  static func text(_ name: String) -> String? {
    value(name)
  }

  /// The whole number in the variable, or the default.
  static func number<Number: FixedWidthInteger>(
    _ name: String, default fallback: Number
  ) -> Number {
    guard let text = value(name) else { return fallback }
    if let number = Number(text) { return number }
    note(name, "\"\(text)\" is not a whole number")
    return fallback
  }

  /// The truth value of the variable: `1`, `true`, `yes`, `on` or their opposites.
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

  /// The variable as a case of an enumeration.
  static func option<Option: RawRepresentable & CaseIterable>(_ name: String) -> Option?
  where Option.RawValue == String {
    guard let text = value(name) else { return nil }
    if let option = Option(rawValue: text.lowercased()) { return option }
    let known = Option.allCases.map(\.rawValue).joined(separator: ", ")
    note(name, "\"\(text)\" is not one of \(known)")
    return nil
  }

  /// The log level in the variable, or the default.
  static func logLevel(_ name: String, default fallback: Logger.Level) -> Logger.Level {
    guard let text = value(name) else { return fallback }
    if let level = Logger.Level(rawValue: text.lowercased()) { return level }
    note(name, "\"\(text)\" is not a log level")
    return fallback
  }

  /// Throws the first stored error of a variable.
  static func validate() throws {
    if let problem = problems.withLock({ $0.sorted { $0.key < $1.key }.first?.value }) {
      throw ValidationError(problem)
    }
  }

  private static let prefix = "LOOKAHEAD_"

  /// The name of an option's variable.
  static func variable(_ name: String) -> String {
    prefix + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
  }

  /// The value of a variable. An empty variable counts as unset, as in a container's settings.
  private static func value(_ name: String) -> String? {
    guard let text = variables[name], !text.isEmpty else { return nil }
    return text
  }

  private static func note(_ name: String, _ problem: String) {
    problems.withLock { $0[name] = "\(variable(name)): \(problem)" }
  }
}
