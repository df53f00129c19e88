/// The parts that were counted recently: a repeated part is recognized, whichever server counted it, and
/// even if that server was killed since.
///
/// It holds hashes, not sessions' names, and for at most a day. Servers of one database write the hashes of
/// what they count with the counts, in one transaction, and read each other's before.
public struct ReportMemory: Sendable {
  /// A batch of hashes that were written together.
  public struct Batch: Hashable, Sendable {
    /// The number of the batch.
    public let number: Int64
    /// The hour, in hours since 1970.
    public let hour: Int
    /// The hashes.
    public internal(set) var fingerprints: [UInt64]

    /// Creates a batch as it was written.
    public init(number: Int64, hour: Int, fingerprints: [UInt64]) {
      self.number = number
      self.hour = hour
      self.fingerprints = fingerprints
    }
  }

  /// The maximum number of hashes.
  public let limit: Int
  private var known: Set<UInt64> = []
  private var batches: [Batch] = []
  private var first = 0
  /// The number of the last batch that was added.
  public private(set) var lastBatch: Int64 = 0

  /// The number of the oldest batch that is still needed.
  public var oldestBatch: Int64 { first < batches.count ? batches[first].number : lastBatch + 1 }

  /// The number of hours for which a hash is kept.
  public static let hours = 26

  /// Creates an empty memory.
  ///
  /// - Parameter limit: The maximum number of hashes; beyond it, the oldest are dropped.
  public init(limit: Int) { self.limit = limit }

  /// The number of hashes.
  public var count: Int { known.count }

  /// Whether the part was counted.
  public func contains(_ fingerprint: UInt64) -> Bool { known.contains(fingerprint) }

  /// Adds a batch; batches are added in the order of their numbers.
  public mutating func take(_ batch: Batch) {
    lastBatch = max(lastBatch, batch.number)
    known.formUnion(batch.fingerprints)
    batches.append(batch)
    forget(before: batch.hour - Self.hours)
  }

  /// Drops batches that are older than the hour or exceed the limit.
  public mutating func forget(before hour: Int) {
    while first < batches.count, batches[first].hour < hour || known.count > limit {
      for fingerprint in batches[first].fingerprints { known.remove(fingerprint) }
      batches[first].fingerprints = []
      first += 1
    }
    if first > 1_000, first > batches.count / 2 {
      batches.removeSubrange(..<first)
      first = 0
    }
  }
}
