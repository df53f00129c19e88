/// The zone of times that name none, as databases print them.
public struct LocalTimeZone: Sendable {
  /// How far local time is ahead of UTC, in seconds, where a clock there shows so many seconds since 1970.
  let offsetSeconds: @Sendable (Int) -> Int

  /// A zone with this offset at each time that its clocks show.
  public init(offsetSeconds: @escaping @Sendable (Int) -> Int) {
    self.offsetSeconds = offsetSeconds
  }

  /// Coordinated universal time.
  public static let utc = LocalTimeZone { _ in 0 }
}
