import Foundation

/// One setting of `serve`: its value, and who said so.
struct Setting {
  /// Where a value comes from; what stands further down comes first.
  enum Origin: String, Sendable {
    case `default`
    case environment
    case option
  }

  enum Value {
    case number(Int)
    case flag(Bool)
    case text(String)
    /// Nobody is shown what it is.
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

  /// What is known of it, where it is a number.
  var row: NumberSetting? { NumberSetting.named(name) }

  /// The environment's name for it.
  var variable: String { Environment.variable(name) }

  /// Who said so, given the program's arguments and environment: an empty variable says nothing.
  func origin(arguments: [String], environment: [String: String]) -> Origin {
    let isOption = arguments.contains {
      $0 == "--\(name)" || $0 == "--no-\(name)" || $0.hasPrefix("--\(name)=")
    }
    if isOption { return .option }
    return environment[variable].map { !$0.isEmpty } ?? false ? .environment : .default
  }

  /// The value as a person reads it.
  var text: String {
    switch value {
    case .number(let number): String(number)
    case .flag(let isOn): isOn ? "on" : "off"
    case .text(let text): text
    case .secret(let isSet): isSet ? "(set)" : "(not set)"
    case .none: "(not set)"
    }
  }

  /// The value as JSON has it; of a secret, whether it is set.
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
