import Feed
import Reports

/// Where what clients report adds up: cells of sums, and hashes of the parts that were counted lately.
///
/// For threads that may wait. Each method throws the store's own failures.
public protocol ReportStore: Sendable {
  /// Adds those of the parts that no server has counted yet, all of them or none; durable when it returns.
  ///
  /// Several servers may add to one database: each writes the hashes of what it counts together with the counts, and
  /// reads those of others before, in the same transaction.
  ///
  /// - Parameters:
  ///   - parts: none of them is among the batches up to `batch`.
  ///   - hour: now, in hours since 1970: what is written is remembered from then on.
  ///   - batch: the number of the last batch that the caller knows; 0 for none.
  ///   - oldest: the number of the oldest batch that is to be remembered; those before it are deleted.
  ///   - cellsPerHour: how many cells an hour has; parts beyond are added to `ReportCellKey.others`.
  ///   - limits: what of items is told apart.
  /// - Returns: the batches behind `batch`; the last one has the parts that were counted, unless none was.
  func add(
    _ parts: [CountedPart], at hour: Int, after batch: Int64, forgettingBefore oldest: Int64,
    cellsPerHour: Int, of limits: WatchLimits
  ) throws -> [ReportMemory.Batch]
  /// The batches that are remembered, in the order of their numbers.
  func reportBatches() throws -> [ReportMemory.Batch]
  /// Hands out the cells from an hour on, one by one, in the order of their keys.
  func readReportCells(
    since hour: Int, _ body: (ReportCellKey, ReportCell) throws -> Void) throws
  /// Deletes the cells of before an hour, and the hashes of before another; of items and promises those without
  /// a report since the hour, and if there are nearly as many as may be, those with the fewest views.
  func dropReports(before hour: Int, fingerprintsBefore other: Int, of limits: WatchLimits) throws

  /// The items that were watched, in the order of their ids' bytes, those behind `id`, or the first ones.
  func watchedItems(after id: String?, limit: Int) throws -> [WatchedItem]
  /// What was counted of classes of clips.
  func watchedClasses() throws -> [ClipClass: WatchRecord]
  /// Replaces what pages say of how long items are watched; posts that are gone are passed over. When it returns, that
  /// is durable, and the next read shows it.
  func publish(_ curves: [(item: String, survival: [WatchPoint])]) throws

  /// What is known of promises, in their order; nil of those that were never put to the test.
  func promises(_ keys: [PromiseKey]) throws -> [PromiseRecord?]
  /// The promises of this state, at most this number.
  func promises(_ state: PromiseRecord.State, limit: Int) throws -> [PromiseKey]
  /// Those with the greatest share of late ones, of those with a minimum of views; at most a set number.
  func worstPromises(leastViews: Int, limit: Int) throws -> [(
    key: PromiseKey, record: PromiseRecord
  )]
  /// Says what came of promises. The test of one that holds begins anew.
  func note(_ state: PromiseRecord.State, of keys: [PromiseKey]) throws
}

/// How much of what is reported of items is told apart, and for how long.
public struct WatchLimits: Hashable, Sendable {
  /// How many items' curves are learned.
  public var items = 100_000
  /// How many promises are in the ledger: a file's version on a network each.
  public var promises = 100_000
  /// The hours after which a view counts half.
  public var halvingHours = 168

  /// The defaults.
  public init() {}
}

/// An item that was watched.
public struct WatchedItem: Hashable, Sendable {
  /// Its id.
  @ByBytes public var id: String
  /// What was counted.
  public let record: WatchRecord
  /// What pages say of it; nil of an item that is gone.
  public let published: [WatchPoint]?

  /// An item of these.
  public init(id: String, record: WatchRecord, published: [WatchPoint]?) {
    self.record = record
    self.published = published
    self.id = id
  }
}
