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
  /// A row's name, as the label of a property.
  private struct Label: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private let options: [(name: String, option: Option<Int>)]

  init() {
    options = Group.numbers.map { ($0.name, Option($0.name)) }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Label.self)
    options = try Group.numbers.map { row in
      (row.name, try container.decode(Option<Int>.self, forKey: Label(stringValue: row.name)))
    }
  }

  /// A wrapped property bears its name behind an underscore.
  var customMirror: Mirror {
    Mirror(self, children: options.map { (label: "_" + $0.name, value: $0.option) })
  }
}
