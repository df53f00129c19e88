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
  static let leastBytes = 16_384
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

/// Measures a link by the bytes of which an engine is told, for a client that measures nothing itself: less well than
/// `LinkMeter`, since it does not know when an answer began. Time counts from a transfer's first bytes on, and where all are
/// told at once from when it was asked for. It measures as transfers end: a client that does so itself has told by then.
struct ArrivalMeter: Equatable, Codable {
  /// Since when bytes are to be counted; `nil` while nothing is under way.
  private var since: Int?
  private var (bytes, milliseconds) = (0, 0)

  /// After so long half of what was counted is forgotten. No sooner: bytes that are told only now came before, too.
  private static let longestMilliseconds = 4_000

  /// The first transfer begins after a time in which none ran.
  mutating func begin() { since = nil }

  /// Bytes are there.
  ///
  /// - Parameters:
  ///   - asked: when their transfer was begun, if they are all of it; else `nil`.
  ///   - isEnd: they are the last ones of their transfer.
  ///   - isBusy: another transfer runs.
  /// - Returns: kilobits a second, where enough came to say so.
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
