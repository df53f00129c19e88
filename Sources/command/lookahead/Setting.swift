import ArgumentParser
import Foundation
import Service

/// One setting of `serve`: its value, and the origin of the value.
struct Setting {
  /// The origins of a value, in ascending precedence.
  enum Origin: String, Sendable {
    case `default`
    case environment
    case option
  }

  enum Value {
    case number(Int)
    case flag(Bool)
    case text(String)
    /// A secret, whose value is never shown.
    case secret(isSet: Bool)
    /// Not set.
    case none
  }

  /// The option's name without its dashes.
  let name: String
  let value: Value

  init(_ name: String, _ value: some BinaryInteger) {
    (self.name, self.value) = (name, .number(Int(value)))
  }

  init(_ name: String, _ value: Bool) {
    (self.name, self.value) = (name, .flag(value))
  }

  init(_ name: String, _ value: String?) {
    (self.name, self.value) = (name, value.map(Value.text) ?? .none)
  }

  init(_ name: String, secret: String?) {
    (self.name, self.value) = (name, .secret(isSet: secret != nil))
  }

  /// Its row, if it is a number.
  var row: NumberSetting? { NumberSetting.named(name) }

  /// The name of its environment variable.
  var variable: String { Environment.variable(name) }

  /// The origin of its value by these arguments and environment: an empty variable counts as unset.
  func origin(arguments: [String], environment: [String: String]) -> Origin {
    let isOption = arguments.contains {
      $0 == "--\(name)" || $0 == "--no-\(name)" || $0.hasPrefix("--\(name)=")
    }
    if isOption { return .option }
    return environment[variable].map { !$0.isEmpty } ?? false ? .environment : .default
  }

  /// The value as text for users.
  var text: String {
    switch value {
    case .number(let number): String(number)
    case .flag(let isOn): isOn ? "on" : "off"
    case .text(let text): text
    case .secret(let isSet): isSet ? "(set)" : "(not set)"
    case .none: "(not set)"
    }
  }

  /// The value for JSON; of a secret, whether it is set.
  var json: Any {
    switch value {
    case .number(let number): number
    case .flag(let isOn): isOn
    case .text(let text): text
    case .secret(let isSet): isSet
    case .none: NSNull()
    }
  }
}

/// A holder of an option's value, or of a group of options: ArgumentParser's property wrappers.
private protocol SettingHolder {
  /// The settings in it, given the property's name.
  func settings(_ label: String) -> [Setting]
}

extension Option: SettingHolder {
  fileprivate func settings(_ label: String) -> [Setting] { [Setting(label, of: wrappedValue)] }
}

extension Flag: SettingHolder {
  fileprivate func settings(_ label: String) -> [Setting] { [Setting(label, of: wrappedValue)] }
}

extension OptionGroup: SettingHolder {
  fileprivate func settings(_ label: String) -> [Setting] { Setting.list(of: wrappedValue) }
}

extension Setting {
  /// Settings whose value is never shown.
  private static let secrets: Set = ["write-token"]

  /// Settings that may contain a password, which is never shown.
  private static let addresses: Set = ["database", "standby-database"]

  /// Every option of parsed arguments, in the order of their help.
  static func list(of arguments: some ParsableArguments) -> [Setting] {
    Mirror(reflecting: arguments).children.flatMap { label, value in
      // The name of a wrapped property begins with an underscore.
      (value as? any SettingHolder)?.settings(String(label?.dropFirst() ?? "")) ?? []
    }
  }

  /// Throws the first stored error of a variable, or for the first number outside of its range.
  static func validate(_ arguments: some ParsableArguments) throws {
    try Environment.validate()
    try validate(list(of: arguments))
  }

  /// Throws for the first number outside of its range.
  static func validate(_ settings: [Setting]) throws {
    for setting in settings {
      guard case .number(let number) = setting.value else { continue }
      guard let problem = setting.row?.problem(with: number) else { continue }
      let origin = setting.origin(
        arguments: CommandLine.arguments, environment: ProcessInfo.processInfo.environment)
      let said = origin == .environment ? setting.variable : "--" + setting.name
      throw ValidationError("\(said): \(problem)")
    }
  }

  /// Sets every number that has a place in the configuration.
  static func apply(_ settings: [Setting], to configuration: inout FeedServiceConfiguration) {
    for setting in settings {
      guard case .number(let number) = setting.value, let place = setting.row?.place else {
        continue
      }
      place.set(number, &configuration)
    }
  }

  /// Creates the setting of a property.
  fileprivate init(_ label: String, of value: Any) {
    let name = label.reduce(into: "") { name, character in
      name += character.isUppercase ? "-" + character.lowercased() : String(character)
    }
    if Self.secrets.contains(name) {
      self.init(name, secret: value as? String)
      return
    }
    if Self.addresses.contains(name), let text = value as? String, !text.isEmpty {
      // A text that cannot be parsed may contain a password.
      self.init(name, (try? StoreLocation(text))?.name)
      return
    }
    switch value {
    case let number as any BinaryInteger: self.init(name, number)
    case let flag as Bool: self.init(name, flag)
    // An empty text counts as unset, as in a variable.
    case let text as String: self.init(name, text.isEmpty ? nil : text)
    case let texts as [String]:
      self.init(name, texts.isEmpty ? nil : texts.joined(separator: ","))
    case let word as any RawRepresentable<String>: self.init(name, word.rawValue)
    default: self.init(name, nil as String?)
    }
  }
}

extension Option where Value == Int {
  /// Creates the option of a row of `NumberSetting.all`.
  init(_ name: String) {
    guard let row = NumberSetting.named(name), let fallback = row.fallback else {
      preconditionFailure("--\(name) has no row with a default")
    }
    self.init(
      wrappedValue: Environment.number(name, default: fallback), name: .customLong(name),
      help: ArgumentHelp(row.help))
  }
}

extension Option where Value == Int? {
  /// Creates the option of a row of `NumberSetting.all` without a default and a variable, since each run must
  /// be given its own value.
  ///
  /// - Parameter help: the text of this command, if it differs from that of other commands.
  init(_ name: String, valueName: String? = nil, help: String? = nil) {
    guard let row = NumberSetting.named(name) else {
      preconditionFailure("--\(name) has no row")
    }
    self.init(
      name: .customLong(name), help: ArgumentHelp(help ?? row.help, valueName: valueName))
  }
}

extension Option where Value == String {
  /// Creates an option for a text, with its variable and default.
  init(_ name: String, default fallback: String, _ help: String) {
    self.init(
      wrappedValue: Environment.text(name, default: fallback), name: .customLong(name),
      help: ArgumentHelp(help))
  }
}

extension Flag where Value == Bool {
  /// Creates a flag with its variable; it is off by default.
  init(_ name: String, _ help: String) {
    self.init(
      wrappedValue: Environment.flag(name, default: false), name: .customLong(name),
      help: ArgumentHelp(help))
  }

  /// Creates a flag with its variable and default, and with `--no-…`.
  init(_ name: String, default fallback: Bool, _ help: String) {
    self.init(
      wrappedValue: Environment.flag(name, default: fallback), name: .customLong(name),
      inversion: .prefixedNo, help: ArgumentHelp(help))
  }
}
