import Service

/// What is known of an option whose value is a number: its row of the table `NumberSetting.all`.
///
/// Its option, its variable, its default, its check, `config` and the service's configuration follow from
/// it; docs/settings.md and the manual are held against it.
struct NumberSetting: Sendable {
  /// Where the service's configuration has it.
  typealias Place = WritableKeyPath<FeedServiceConfiguration, Int> & Sendable

  /// The option's name without its dashes.
  let name: String
  /// What it may be.
  let range: ClosedRange<Int>
  /// What it is where nobody says; nil where nothing is then.
  let fallback: Int?
  /// Nil where whoever has the option puts it in its place.
  let place: Place?
  /// What `--help` says of it.
  let help: String

  /// A setting of the service, whose default is the configuration's own.
  init(_ name: String, _ range: ClosedRange<Int>, _ place: Place, _ help: String) {
    self.init(name, range, default: Self.defaults[keyPath: place], help, place: place)
  }

  /// Another number.
  init(
    _ name: String, _ range: ClosedRange<Int>, default fallback: Int?, _ help: String,
    place: Place? = nil
  ) {
    self.name = name
    self.range = range
    self.fallback = fallback
    self.place = place
    self.help = help
  }

  private static let defaults = FeedServiceConfiguration(databasePath: "")
  private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  /// The row of this name, if it has one.
  static func named(_ name: String) -> NumberSetting? { byName[name] }

  /// What is wrong with a number; nil where it is within the range.
  func problem(with number: Int) -> String? {
    if number < range.lowerBound { return "\(number) is less than \(range.lowerBound)" }
    if number > range.upperBound { return "\(number) is more than \(range.upperBound)" }
    return nil
  }
}

extension FeedServiceConfiguration {
  /// The port as the other numbers are.
  var portNumber: Int {
    get { Int(application.server.port) }
    set { application.server.port = UInt16(clamping: newValue) }
  }
}
