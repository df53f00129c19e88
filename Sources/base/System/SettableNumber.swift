/// A number of a configuration that an operator can set: the name of its option, what it may be, where the
/// configuration has it, and what help says of it.
///
/// Each stands beside the property, whose initial value is the default. A command adds up those of all
/// configurations, and makes options, variables and checks of them.
package struct SettableNumber<Configuration>: Sendable {
  /// Where a configuration has it.
  package typealias Place = WritableKeyPath<Configuration, Int> & Sendable

  /// The option's name without its dashes.
  package let name: String
  /// What it may be. The upper ends keep every sum and product that the program makes of such numbers within 64 bits,
  /// and what it takes of threads and files within what a machine has.
  package let range: ClosedRange<Int>
  /// Where a configuration has it.
  package let place: Place
  /// What `--help` says of it.
  package let help: String

  /// A number of these.
  package init(_ name: String, _ range: ClosedRange<Int>, _ place: Place, _ help: String) {
    (self.name, self.range, self.place, self.help) = (name, range, place, help)
  }
}

/// Usual ends of such ranges.
package enum Most {
  /// A day.
  package static let daySeconds = 86_400
  /// A day.
  package static let dayMilliseconds = daySeconds * 1_000
  /// Ten years of 365 days.
  package static let tenYearsSeconds = 3_650 * daySeconds
  /// 2^30 bytes.
  package static let gibibyte = 1 << 30
  /// 2^40 bytes.
  package static let tebibyte = 1 << 40
}
