import ArgumentParser

/// A group of options that has numbers.
protocol NumberGroup {
  /// Their rows, in the order of the help.
  static var numbers: [NumberSetting] { get }
}

/// The options of a group's numbers, one for each row, so that a number needs no property of its own.
///
/// ArgumentParser finds options by reflection and has each decoded by its label: both are made from the rows here. What
/// reads a number finds it at its place in the configuration (`Setting.apply`).
struct NumberOptions<Group: NumberGroup>: ParsableArguments, CustomReflectable {
  private let options: [(name: String, option: Option<Int>)]

  init() {
    options = Group.numbers.map { ($0.name, Option($0.name)) }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: OptionLabel.self)
    options = try Group.numbers.map { row in
      (row.name, try container.decode(Option<Int>.self, forKey: OptionLabel(row.name)))
    }
  }

  /// A wrapped property bears its name behind an underscore.
  var customMirror: Mirror {
    Mirror(self, children: options.map { (label: "_" + $0.name, value: $0.option) })
  }
}

/// The label of an option: the name of its property, or of its row.
struct OptionLabel: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}
