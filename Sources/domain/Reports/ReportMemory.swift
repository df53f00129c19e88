/// Which parts were counted lately: a part that comes again is known, whichever server counted it and even if that
/// server was killed since.
///
/// It holds hashes, not sessions' names, and for a day at the most. Servers of one database write the hashes of what
/// they count with the counts, in one transaction, and read each other's before.
public struct ReportMemory: Sendable {
  /// Hashes that were written together.
  public struct Batch: Hashable, Sendable {
    /// Counts batches.
    public let number: Int64
    /// Hours since 1970.
    public let hour: Int
    /// The hashes.
    public internal(set) var fingerprints: [UInt64]

    /// A batch as it was written.
    public init(number: Int64, hour: Int, fingerprints: [UInt64]) {
      self.number = number
      self.hour = hour
      self.fingerprints = fingerprints
    }
  }

  /// How many hashes are remembered.
  public let limit: Int
  private var known: Set<UInt64> = []
  private var batches: [Batch] = []
  private var first = 0
  /// The number of the last batch that was taken in.
  public private(set) var lastBatch: Int64 = 0

  /// The number of the oldest batch that is remembered: none before it need be kept.
  public var oldestBatch: Int64 { first < batches.count ? batches[first].number : lastBatch + 1 }

  /// For how many hours a hash is remembered.
  public static let hours = 26

  /// A memory of nothing.
  ///
  /// - Parameter limit: how many hashes are remembered; beyond that, the oldest are forgotten.
  public init(limit: Int) { self.limit = limit }

  /// How many parts are remembered.
  public var count: Int { known.count }

  /// Whether the part was counted.
  public func contains(_ fingerprint: UInt64) -> Bool { known.contains(fingerprint) }

  /// Takes in what was written, in the order of the numbers.
  public mutating func take(_ batch: Batch) {
    lastBatch = max(lastBatch, batch.number)
    known.formUnion(batch.fingerprints)
    batches.append(batch)
    forget(before: batch.hour - Self.hours)
  }

  /// Forgets what is older than the hour, and what is too much.
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
