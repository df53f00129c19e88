/// A pure meter of a link, by the bytes that cross it. Only time with bytes under way counts, so that an idle
/// link does not look slow, and a round trip does not lower the bandwidth.
///
/// Clients and the lab's simulated clients measure with it.
public struct LinkMeter: Sendable {
  /// A measurement of the link.
  public struct Measurement: Hashable, Sendable {
    /// The bandwidth, in kilobits (1000 bits) a second.
    public let kilobitsPerSecond: Int
    /// The shortest of the recent waits for a response head; others waited behind bodies.
    public let roundTripMilliseconds: Int?
  }

  /// Creates a meter of a link that nothing has crossed.
  public init() {}

  /// The number of responses that are being received.
  public private(set) var receiving = 0
  private var windowStart = 0
  private var windowBytes = 0
  private var waits: [Int] = []

  /// The minimum number of bytes of a measured window.
  static let leastBytes = 16_384
  /// The minimum duration of a measured window, unless the last response ends it.
  public static let leastMilliseconds = 250
  private static let recentWaits = 8

  /// Records the head of a response, this long after its request.
  public mutating func answered(afterMilliseconds wait: Int, at now: Int) {
    waits.append(wait)
    if waits.count > Self.recentWaits { waits.removeFirst() }
    if receiving == 0 { (windowStart, windowBytes) = (now, 0) }
    receiving += 1
  }

  /// Records bytes of a body.
  public mutating func arrived(_ bytes: Int, at now: Int) -> Measurement? {
    windowBytes += bytes
    guard now - windowStart >= Self.leastMilliseconds, windowBytes >= Self.leastBytes else {
      return nil
    }
    return measure(at: now)
  }

  /// Records the end of a response.
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

/// Measures a link by the bytes that are reported to an engine, for a client that measures nothing itself.
/// Less exact than `LinkMeter`, since it does not know when a response began: time counts from a transfer's
/// first bytes, or from its request if all bytes are reported at once. It measures when transfers end, by
/// which time a client that measures has reported its own figure.
struct ArrivalMeter: Equatable, Codable {
  /// The time from which arriving bytes count; `nil` while nothing is in transfer.
  private var since: Int?
  private var (bytes, milliseconds) = (0, 0)

  /// The time after which half of what was counted is dropped. Not sooner: bytes that are reported only now
  /// arrived before, too.
  private static let longestMilliseconds = 4_000

  /// Records that a transfer begins after a time in which none ran.
  mutating func begin() { since = nil }

  /// Records bytes that arrived.
  ///
  /// - Parameters:
  ///   - asked: the time at which their transfer was begun, if they are all of it; otherwise `nil`.
  ///   - isEnd: whether they are the last ones of their transfer.
  ///   - isBusy: whether another transfer is running.
  /// - Returns: kilobits a second, if enough bytes arrived to measure.
  mutating func arrived(
    _ count: Int, askedAt asked: Int?, isEnd: Bool, isBusy: Bool, at now: Int
  ) -> Int? {
    let start = since ?? asked
    since = isEnd && !isBusy ? nil : now
    guard let start else { return nil }
    (bytes, milliseconds) = (bytes + count, milliseconds + now - start)
    guard isEnd, bytes >= LinkMeter.leastBytes, milliseconds >= LinkMeter.leastMilliseconds else {
      return nil
    }
    let kilobits = max(1, bytes * 8 / milliseconds)
    if !isBusy {
      (bytes, milliseconds) = (0, 0)
    } else if milliseconds > Self.longestMilliseconds {
      (bytes, milliseconds) = (bytes / 2, milliseconds / 2)
    }
    return kilobits
  }
}
