import ArgumentParser

extension Option where Value == Int {
  /// The option of a row of `NumberSetting.all`.
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
  /// The option of a row of `NumberSetting.all` that nothing stands for where it is not given: it has no
  /// variable, since each run has to be told anew.
  ///
  /// - Parameter help: what this command does with it, where that is not what others do.
  init(_ name: String, valueName: String? = nil, help: String? = nil) {
    guard let row = NumberSetting.named(name) else {
      preconditionFailure("--\(name) has no row")
    }
    self.init(
      name: .customLong(name), help: ArgumentHelp(help ?? row.help, valueName: valueName))
  }
}

extension Option where Value == String {
  /// A text with its variable and default.
  init(_ name: String, default fallback: String, _ help: String) {
    self.init(
      wrappedValue: Environment.text(name, default: fallback), name: .customLong(name),
      help: ArgumentHelp(help))
  }
}

extension Flag where Value == Bool {
  /// A flag with its variable, that is off unless somebody says otherwise.
  init(_ name: String, _ help: String) {
    self.init(
      wrappedValue: Environment.flag(name, default: false), name: .customLong(name),
      help: ArgumentHelp(help))
  }

  /// A flag with its variable and default, and `--no-…` beside it.
  init(_ name: String, default fallback: Bool, _ help: String) {
    self.init(
      wrappedValue: Environment.flag(name, default: fallback), name: .customLong(name),
      inversion: .prefixedNo, help: ArgumentHelp(help))
  }
}
