import ArgumentParser

/// A group of options with number values.
protocol NumberGroup {
  /// The rows of the numbers, in the order of the help.
  static var numbers: [NumberSetting] { get }
}

/// The options of a group's numbers, one for each row, so that a number needs no property of its own.
///
/// ArgumentParser finds options by reflection, and decodes each by its label: both use the rows here. Other
/// code reads a number from its place in the configuration (`Setting.apply`).
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

  /// A mirror with an underscore before each name, as property wrappers have it.
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
