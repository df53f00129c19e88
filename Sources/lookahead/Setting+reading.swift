import ArgumentParser
import Foundation
import Service

/// What holds an option's value, or a group of them: ArgumentParser's property wrappers.
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
  /// Whose value nobody is shown.
  private static let secrets: Set = ["write-token"]

  /// Which may hold a password, that nobody is shown.
  private static let addresses: Set = ["database", "standby-database"]

  /// Every option of parsed arguments, in the order of their help.
  static func list(of arguments: some ParsableArguments) -> [Setting] {
    Mirror(reflecting: arguments).children.flatMap { label, value in
      // The wrapper of a property bears its name behind an underscore.
      (value as? any SettingHolder)?.settings(String(label?.dropFirst() ?? "")) ?? []
    }
  }

  /// Throws for what could not be read of a variable, and for the first number outside of its range.
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

  /// Puts every number that has a place into the configuration.
  static func apply(_ settings: [Setting], to configuration: inout FeedServiceConfiguration) {
    for setting in settings {
      guard case .number(let number) = setting.value, let place = setting.row?.place else {
        continue
      }
      configuration[keyPath: place] = number
    }
  }

  /// The setting of a property.
  fileprivate init(_ label: String, of value: Any) {
    let name = label.reduce(into: "") { name, character in
      name += character.isUppercase ? "-" + character.lowercased() : String(character)
    }
    if Self.secrets.contains(name) {
      self.init(name, secret: value as? String)
      return
    }
    if Self.addresses.contains(name), let text = value as? String, !text.isEmpty {
      // What cannot be read may hold a password.
      self.init(name, (try? StoreLocation(text))?.name)
      return
    }
    switch value {
    case let number as any BinaryInteger: self.init(name, number)
    case let flag as Bool: self.init(name, flag)
    // What is empty says nothing, as in a variable.
    case let text as String: self.init(name, text.isEmpty ? nil : text)
    case let texts as [String]:
      self.init(name, texts.isEmpty ? nil : texts.joined(separator: ","))
    case let word as any RawRepresentable<String>: self.init(name, word.rawValue)
    default: self.init(name, nil as String?)
    }
  }
}
