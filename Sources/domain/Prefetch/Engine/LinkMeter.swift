/// Measures a link by what crosses it: pure. Only time in which something is on its way counts, so that a link
/// that is not used is not taken for a slow one, nor a round trip for bandwidth.
///
/// Clients measure with it, and the lab's simulated ones do, too.
public struct LinkMeter: Sendable {
  /// What was measured.
  public struct Measurement: Hashable, Sendable {
    /// Kilobits (1000 bits) a second.
    public let kilobitsPerSecond: Int
    /// The shortest wait for a head among the last ones: others waited behind bodies.
    public let roundTripMilliseconds: Int?
  }

  /// A meter of a link that nothing has crossed.
  public init() {}

  /// How many answers are being received.
  public private(set) var receiving = 0
  private var windowStart = 0
  private var windowBytes = 0
  private var waits: [Int] = []

  /// A window of at least this many bytes measures a link.
  private static let leastBytes = 16_384
  /// And of so long.
  public static let leastMilliseconds = 250
  private static let recentWaits = 8

  /// The head of an answer is there, so long after it was asked for.
  public mutating func answered(afterMilliseconds wait: Int, at now: Int) {
    waits.append(wait)
    if waits.count > Self.recentWaits { waits.removeFirst() }
    if receiving == 0 { (windowStart, windowBytes) = (now, 0) }
    receiving += 1
  }

  /// Bytes of a body are there.
  public mutating func arrived(_ bytes: Int, at now: Int) -> Measurement? {
    windowBytes += bytes
    guard now - windowStart >= Self.leastMilliseconds, windowBytes >= Self.leastBytes else {
      return nil
    }
    return measure(at: now)
  }

  /// An answer has ended.
  public mutating func ended(at now: Int) -> Measurement? {
    receiving = max(0, receiving - 1)
    guard receiving == 0, windowBytes >= Self.leastBytes, now > windowStart else { return nil }
    return measure(at: now)
  }

  private mutating func measure(at now: Int) -> Measurement {
    defer { (windowStart, windowBytes) = (now, 0) }
    return Measurement(
      kilobitsPerSecond: max(1, windowBytes * 8 / max(now - windowStart, 1)),
      roundTripMilliseconds: waits.min())
  }
}
