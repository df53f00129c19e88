import Feed
import System

/// The options of a store in any database. Every number must be 1 or more; only `keptRankingsSeconds` may be 0.
package struct StoreOptions: Sendable {
  /// The number of rankings of a feed that are kept, including the current one. A cursor works as long as
  /// its ranking is kept.
  package var keptRankings: Int
  /// The time for which a ranking is kept after it was current, even beyond that number.
  package var keptRankingsSeconds: Int
  /// The maximum number of moves of entries that are kept for such rankings, which bounds their cost.
  package var maximumKeptMoves: Int
  /// The maximum number of single writes that wait for the writer; one more is refused.
  package var maximumWaitingWrites: Int
  /// The maximum number of single writes in one transaction.
  package var maximumWritesInGroup: Int
  /// The time for which an idempotency key is kept.
  package var idempotencyKeepSeconds: Int
  /// The maximum number of idempotency keys that are kept; the oldest are deleted first.
  package var maximumIdempotencyKeys: Int
  /// The number of changes of posts that are remembered, for callers that cache what they read and check
  /// what is still valid. A caller that asks for an older change is told that anything may have changed.
  package var journalledChanges: Int
  /// The approximate memory for the feeds' orders. Beyond it, the least recently used orders are evicted,
  /// and read again on demand.
  package var orderMemoryBytes: Int
  /// The number of entries of each feed that `beginLoading` reads before anything else, for the first pages
  /// that are requested.
  package var firstEntries: Int
  /// The approximate number of such entries of all feeds together: what is served at once after a start, if
  /// there are very many feeds.
  package var firstEntriesOfAll: Int
  /// The clock that dates idempotency keys.
  package var now: @Sendable () -> Timestamp

  /// The default of `keptRankings`.
  package static let defaultKeptRankings = 16
  /// The default of `keptRankingsSeconds`: an hour.
  package static let defaultKeptRankingsSeconds = 3_600
  /// The default of `maximumKeptMoves`: about 20 MB.
  package static let defaultMaximumKeptMoves = 100_000
  /// The default of `maximumWaitingWrites`.
  package static let defaultMaximumWaitingWrites = 1_024
  /// The default of `maximumWritesInGroup`.
  package static let defaultMaximumWritesInGroup = 256
  /// The default of `idempotencyKeepSeconds`: a day.
  package static let defaultIdempotencyKeepSeconds = 86_400
  /// The default of `maximumIdempotencyKeys`.
  package static let defaultMaximumIdempotencyKeys = 100_000
  /// The default of `journalledChanges`: about 4 MB if each is of another post.
  package static let defaultJournalledChanges = 65_536
  /// The default of `orderMemoryBytes`: a gibibyte, enough for about 20 million entries.
  package static let defaultOrderMemoryBytes = 1 << 30
  /// The default of `firstEntries`: ten pages of the largest size.
  package static let defaultFirstEntries = 1_000
  /// The default of `firstEntriesOfAll`: a tenth of a second.
  package static let defaultFirstEntriesOfAll = 100_000

  /// Creates options; by default with the system's clock and the defaults above.
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

  /// Returns the time of the system's clock, up to the end of the year 9999.
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
  /// Settings for how pages are kept.
  package static let pageNumbers: [SettableNumber<Self>] = [
    .init(
      "order-memory-bytes", 1 << 20...Most.tebibyte, \.orderMemoryBytes,
      "Approximate memory for the orders of feeds; the least recently used are evicted.")
  ]

  /// Settings for writes.
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

  /// Settings for loads: how much is kept of old rankings.
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
  /// The seconds since 1970 that RFC 3339 can express, since its years have four digits.
  private static let tellableSeconds = -62_167_219_200...253_402_300_799

  /// Creates the time of a clock, limited to the first and the last one that can be expressed.
  init(secondsOfClock seconds: Int, nanoseconds: Int) {
    let tellable = Self.tellableSeconds
    let told = min(max(seconds, tellable.lowerBound), tellable.upperBound)
    self.init(
      microseconds: Int64(told) * 1_000_000 + Int64(min(max(nanoseconds, 0), 999_999_999) / 1_000))
  }
}
