import Feed
import System

/// How a store is set up, whatever database it is in. Every number must be 1 or more; only
/// `keptRankingsSeconds` may be 0.
package struct StoreOptions: Sendable {
  /// How many rankings of a feed are kept, the current one among them: a cursor works as long as its
  /// ranking is kept.
  package var keptRankings: Int
  /// How long a ranking is kept after it was the current one, even beyond that number.
  package var keptRankingsSeconds: Int
  /// How many moves of entries are kept for such rankings, however many there were in that time: what
  /// they cost.
  package var maximumKeptMoves: Int
  /// How many single writes may wait for the writer; one more is refused.
  package var maximumWaitingWrites: Int
  /// How many of them go into one transaction at the most.
  package var maximumWritesInGroup: Int
  /// How long an idempotency key is kept.
  package var idempotencyKeepSeconds: Int
  /// How many idempotency keys are kept; the oldest are deleted first.
  package var maximumIdempotencyKeys: Int
  /// How many changes of posts are remembered, for callers that cache what they read and ask what is still
  /// valid. A caller that asks for an older change is told that anything may have changed.
  package var journalledChanges: Int
  /// About how much memory the feeds' orders may take; beyond that the least recently used orders are
  /// evicted, and read again on demand.
  package var orderMemoryBytes: Int
  /// How many entries of each feed are read before anything else, by `beginLoading`, for the first
  /// pages that are asked for.
  package var firstEntries: Int
  /// How many entries of all feeds together are read so, about: what is served at once after a start,
  /// where there are very many feeds.
  package var firstEntriesOfAll: Int
  /// The time, as idempotency keys are dated.
  package var now: @Sendable () -> Timestamp

  /// The default of `keptRankings`.
  package static let defaultKeptRankings = 16
  /// The default of `keptRankingsSeconds`: an hour.
  package static let defaultKeptRankingsSeconds = 3_600
  /// The default of `maximumKeptMoves`: some 20 MB.
  package static let defaultMaximumKeptMoves = 100_000
  /// The default of `maximumWaitingWrites`.
  package static let defaultMaximumWaitingWrites = 1_024
  /// The default of `maximumWritesInGroup`.
  package static let defaultMaximumWritesInGroup = 256
  /// The default of `idempotencyKeepSeconds`: a day.
  package static let defaultIdempotencyKeepSeconds = 86_400
  /// The default of `maximumIdempotencyKeys`.
  package static let defaultMaximumIdempotencyKeys = 100_000
  /// The default of `journalledChanges`: some 4 MB where each is of another post.
  package static let defaultJournalledChanges = 65_536
  /// The default of `orderMemoryBytes`: a gibibyte, in which some 20 million entries have room.
  package static let defaultOrderMemoryBytes = 1 << 30
  /// The default of `firstEntries`: ten pages of the largest size.
  package static let defaultFirstEntries = 1_000
  /// The default of `firstEntriesOfAll`: a tenth of a second.
  package static let defaultFirstEntriesOfAll = 100_000

  /// Options; by default the system's clock and the defaults above.
  package init(
    keptRankings: Int = StoreOptions.defaultKeptRankings,
    keptRankingsSeconds: Int = StoreOptions.defaultKeptRankingsSeconds,
    maximumKeptMoves: Int = StoreOptions.defaultMaximumKeptMoves,
    maximumWaitingWrites: Int = StoreOptions.defaultMaximumWaitingWrites,
    maximumWritesInGroup: Int = StoreOptions.defaultMaximumWritesInGroup,
    idempotencyKeepSeconds: Int = StoreOptions.defaultIdempotencyKeepSeconds,
    maximumIdempotencyKeys: Int = StoreOptions.defaultMaximumIdempotencyKeys,
    journalledChanges: Int = StoreOptions.defaultJournalledChanges,
    orderMemoryBytes: Int = StoreOptions.defaultOrderMemoryBytes,
    firstEntries: Int = StoreOptions.defaultFirstEntries,
    firstEntriesOfAll: Int = StoreOptions.defaultFirstEntriesOfAll,
    now: @escaping @Sendable () -> Timestamp = StoreOptions.systemTime
  ) {
    self.keptRankings = keptRankings
    self.keptRankingsSeconds = keptRankingsSeconds
    self.maximumKeptMoves = maximumKeptMoves
    self.maximumWaitingWrites = maximumWaitingWrites
    self.maximumWritesInGroup = maximumWritesInGroup
    self.idempotencyKeepSeconds = idempotencyKeepSeconds
    self.maximumIdempotencyKeys = maximumIdempotencyKeys
    self.journalledChanges = journalledChanges
    self.orderMemoryBytes = orderMemoryBytes
    self.firstEntries = firstEntries
    self.firstEntriesOfAll = firstEntriesOfAll
    self.now = now
  }

  /// What the system's clock says, as far as a time can tell it: a clock beyond the year 9999 stands
  /// still there.
  @Sendable package static func systemTime() -> Timestamp {
    let now = WallClock.exactNow
    return Timestamp(secondsOfClock: now.secondsSince1970, nanoseconds: now.nanoseconds)
  }

  package func requireSensible() {
    let numbers = [
      keptRankings, maximumWaitingWrites, maximumWritesInGroup, idempotencyKeepSeconds,
      maximumIdempotencyKeys, journalledChanges, orderMemoryBytes, firstEntries,
      firstEntriesOfAll, maximumKeptMoves,
    ]
    precondition(keptRankingsSeconds >= 0, "a time is less than 0")
    precondition(numbers.allSatisfy { $0 >= 1 }, "an option is less than 1")
  }
}

extension StoreOptions {
  /// What an operator can set: how pages are kept.
  package static let pageNumbers: [SettableNumber<Self>] = [
    .init(
      "order-memory-bytes", 1 << 20...Most.tebibyte, \.orderMemoryBytes,
      "Approximate memory for the orders of feeds; the least recently used are evicted.")
  ]

  /// What an operator can set: writes.
  package static let writeNumbers: [SettableNumber<Self>] = [
    .init(
      "maximum-waiting-writes", 1...1_000_000, \.maximumWaitingWrites,
      "Maximum number of single writes that wait for the database; one more gets 503."),
    .init(
      "idempotency-keep-seconds", 1...Most.tenYearsSeconds, \.idempotencyKeepSeconds,
      "Time for which an Idempotency-Key is kept."),
    .init(
      "maximum-idempotency-keys", 1...1_000_000_000, \.maximumIdempotencyKeys,
      "Maximum number of Idempotency-Keys that are kept; the oldest are deleted."),
  ]

  /// What an operator can set: what is loaded at once, and kept of what was.
  package static let loadingNumbers: [SettableNumber<Self>] = [
    .init(
      "kept-rankings", 1...1_000_000, \.keptRankings,
      "Number of rankings of a feed that are kept for the cursors that name them."),
    .init(
      "kept-rankings-seconds", 0...Most.tenYearsSeconds, \.keptRankingsSeconds,
      "Time for which further rankings are kept after they were current."),
    .init(
      "maximum-kept-moves", 1...1_000_000_000, \.maximumKeptMoves,
      "Maximum number of moved entries that are kept for old rankings."),
  ]
}

extension Timestamp {
  /// The seconds since 1970 that RFC 3339 can write, its years having four digits.
  private static let tellableSeconds = -62_167_219_200...253_402_300_799

  /// The time of a clock, or the first or last one that can be told.
  init(secondsOfClock seconds: Int, nanoseconds: Int) {
    let tellable = Self.tellableSeconds
    let told = min(max(seconds, tellable.lowerBound), tellable.upperBound)
    self.init(
      microseconds: Int64(told) * 1_000_000 + Int64(min(max(nanoseconds, 0), 999_999_999) / 1_000))
  }
}
