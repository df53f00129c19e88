/// A clock of the milliseconds since a viewing began.
public struct SessionClock: Sendable {
  private let start = ContinuousClock.now
  /// The number of milliseconds of the viewing in one millisecond of the wall clock.
  public let speed: Int

  /// Creates a clock that starts now.
  ///
  /// - Parameter speed: 1 in an app; more in a measurement over a link that is faster by the same factor.
  public init(speed: Int = 1) { self.speed = min(max(speed, 1), 1_000) }

  /// The milliseconds since the viewing began.
  public var milliseconds: Int {
    Int((ContinuousClock.now - start) / .microseconds(1)) * speed / 1_000
  }

  /// Waits until this many milliseconds of the viewing have passed.
  public func sleep(milliseconds: Int) async throws {
    try await Task.sleep(for: .microseconds(max(milliseconds, 0) * 1_000 / speed))
  }

  /// Waits until this time of the viewing.
  public func sleep(untilMilliseconds time: Int) async throws {
    try await Task.sleep(until: start + .microseconds(time * 1_000 / speed), clock: .continuous)
  }

  /// Converts milliseconds of the wall clock to milliseconds of the viewing.
  func milliseconds(of ours: Int) -> Int {
    let (scaled, overflow) = ours.multipliedReportingOverflow(by: speed)
    return overflow ? ours : scaled
  }

  /// Converts a duration of the wall clock to milliseconds of the viewing.
  public func milliseconds(_ duration: Duration) -> Int {
    Int(duration / .microseconds(1)) * speed / 1_000
  }
}
