import System

/// How a server looks for better policies at night.
package struct TuningSettings: Sendable {
  /// What becomes of what is found.
  package enum Mode: String, CaseIterable, Sendable {
    /// Nothing is looked for.
    case off
    /// It is written down, and waits for somebody who begins the experiment.
    case suggest
    /// The experiment begins.
    case auto
  }

  /// What becomes of what is found.
  package var mode = Mode.off
  /// When the night begins: the hour of the day, UTC.
  package var hour = 3
  /// Simulations that run at once: as many processors it takes at the most.
  package var jobs = 1
  /// Minimum niceness of the lab; at 19 it has a processor only while no other process wants it.
  package var nice = 19
  /// How long a part may take, in processor time of all its threads and by the clock.
  package var seconds = 3_600
  /// The address space of the lab.
  package var memoryBytes = 4 << 30
  /// Sessions a day from which on a feed is tuned.
  package var sessions = 1_000
  /// How many parts are tuned a night, those with the most sessions.
  package var parts = 20
  /// This program.
  package var program = "/proc/self/exe"
  /// Its environment: variables are its settings, and the database's address may hold a password.
  package var environment: [String] = []

  /// The defaults.
  package init() {}
}

extension TuningSettings {
  /// What an operator can set: tuning.
  package static let numbers: [SettableNumber<Self>] = [
    .init(
      "tune-hour", 0...23, \.hour,
      "Hour of the day, UTC, at which the search for better policies begins; it lasts up to six hours."
    ),
    .init("tune-jobs", 1...256, \.jobs, "Maximum number of processors that the lab uses."),
    .init(
      "tune-nice", 0...19, \.nice,
      "Minimum niceness of the lab; at 19 it has a processor only while no other process wants it."
    ),
    .init(
      "tune-seconds", 1...Most.daySeconds, \.seconds,
      "Time to search for a better policy of a feed, by the clock and of all processors together."),
    .init(
      "tune-memory-bytes", (256 << 20)...Most.tebibyte, \.memoryBytes, "Address space of the lab."),
    .init(
      "tune-sessions", 1...1_000_000_000, \.sessions,
      "Minimum number of reported sessions a day for a feed to be tuned."),
    .init(
      "tune-parts", 1...10_000, \.parts,
      "Maximum number of feeds, or networks of feeds, that are tuned: those with the most sessions."
    ),
  ]
}
