/// A number of a configuration that an operator can set: the name of its option, its range, its place in the
/// configuration, and its help.
///
/// Each is declared beside the property, whose initial value is the default. A command collects those of all
/// configurations, and makes options, variables and checks from them.
package struct SettableNumber<Configuration>: Sendable {
  /// The place of a number in a configuration.
  package typealias Place = WritableKeyPath<Configuration, Int> & Sendable

  /// The option's name without dashes.
  package let name: String
  /// The permitted range. Its upper end keeps every sum and product that the program computes from such
  /// numbers within 64 bits, and the number of threads and files within what a machine has.
  package let range: ClosedRange<Int>
  /// The place of the number in a configuration.
  package let place: Place
  /// The text in `--help`.
  package let help: String

  /// A number with these properties.
  package init(_ name: String, _ range: ClosedRange<Int>, _ place: Place, _ help: String) {
    (self.name, self.range, self.place, self.help) = (name, range, place, help)
  }
}

/// Common upper ends of such ranges.
package enum Most {
  /// The seconds of a day.
  package static let daySeconds = 86_400
  /// The milliseconds of a day.
  package static let dayMilliseconds = daySeconds * 1_000
  /// The seconds of ten years of 365 days.
  package static let tenYearsSeconds = 3_650 * daySeconds
  /// 2^30 bytes.
  package static let gibibyte = 1 << 30
  /// 2^40 bytes.
  package static let tebibyte = 1 << 40
}
