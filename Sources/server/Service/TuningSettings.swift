import System

/// Settings for the search for better policies at night.
package struct TuningSettings: Sendable {
  /// The handling of a policy that the search finds.
  package enum Mode: String, CaseIterable, Sendable {
    /// There is no search.
    case off
    /// It is stored, and waits for a user who begins the experiment.
    case suggest
    /// The experiment begins.
    case auto
  }

  /// The handling of a policy that the search finds.
  package var mode = Mode.off
  /// The hour of the day at which the night begins, UTC.
  package var hour = 3
  /// The number of simulations that run at once, and so the maximum number of processors.
  package var jobs = 1
  /// Minimum niceness of the lab; at 19 it has a processor only while no other process wants it.
  package var nice = 19
  /// The maximum time for a part, both as processor time of all threads and as elapsed time.
  package var seconds = 3_600
  /// The maximum address space of the lab.
  package var memoryBytes = 4 << 30
  /// The minimum number of sessions a day for tuning a feed.
  package var sessions = 1_000
  /// The maximum number of parts that are tuned in a night, those with the most sessions.
  package var parts = 20
  /// The path of this program.
  package var program = "/proc/self/exe"
  /// The environment of the program: variables are its settings, and the database's address may contain a
  /// password.
  package var environment: [String] = []

  /// Creates the defaults.
  package init() {}
}

extension TuningSettings {
  /// Numbers that an operator can set for tuning.
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
