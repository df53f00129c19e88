import Feed
import Reports

/// A store for client reports: cells of sums, and hashes of the parts that were counted recently.
///
/// For threads that may block. Each method throws the store's own failures.
public protocol ReportStore: Sendable {
  /// Adds the parts that no server has counted yet, all of them or none; durable when it returns.
  ///
  /// Several servers may add to one database: each writes the hashes of what it counts together with the
  /// counts, and reads those of the others before, in the same transaction.
  ///
  /// - Parameters:
  ///   - parts: The parts; none of them is in the batches up to `batch`.
  ///   - hour: The current time, in hours since 1970; the hashes are kept from then on.
  ///   - batch: The number of the last batch that the caller knows; 0 for none.
  ///   - oldest: The number of the oldest batch to keep; those before it are deleted.
  ///   - cellsPerHour: The maximum number of cells of an hour; further parts are added to
  ///     `ReportCellKey.others`.
  ///   - limits: The limits of counts per item.
  /// - Returns: The batches after `batch`; the last one has the parts that were counted, unless there were
  ///   none.
  func add(
    _ parts: [CountedPart], at hour: Int, after batch: Int64, forgettingBefore oldest: Int64,
    cellsPerHour: Int, of limits: WatchLimits
  ) throws -> [ReportMemory.Batch]
  /// Returns the batches that are kept, in the order of their numbers.
  func reportBatches() throws -> [ReportMemory.Batch]
  /// Calls `body` with each cell from an hour on, in the order of their keys.
  func readReportCells(
    since hour: Int, _ body: (ReportCellKey, ReportCell) throws -> Void) throws
  /// Deletes the cells before an hour, and the hashes before another. Deletes items and promises without a
  /// report since the hour, and if their number is close to its limit, those with the fewest views.
  func dropReports(before hour: Int, fingerprintsBefore other: Int, of limits: WatchLimits) throws

  /// Returns the watched items in the order of their ids' bytes, from the one after `id`, or from the
  /// first.
  func watchedItems(after id: String?, limit: Int) throws -> [WatchedItem]
  /// Returns the counts of the classes of clips.
  func watchedClasses() throws -> [ClipClass: WatchRecord]
  /// Replaces the survival curves that pages show; ignores deleted posts. When this returns, the curves are
  /// durable, and the next read shows them.
  func publish(_ curves: [(item: String, survival: [WatchPoint])]) throws

  /// Returns the records of promises, in the order of the keys; `nil` for one that was never tested.
  func promises(_ keys: [PromiseKey]) throws -> [PromiseRecord?]
  /// Returns promises in this state, at most `limit`.
  func promises(_ state: PromiseRecord.State, limit: Int) throws -> [PromiseKey]
  /// Returns the promises with the greatest share of late starts among those with at least `leastViews`
  /// views, at most `limit`.
  func worstPromises(leastViews: Int, limit: Int) throws -> [(
    key: PromiseKey, record: PromiseRecord
  )]
  /// Stores the outcome of promises. The test of a promise that holds restarts.
  func note(_ state: PromiseRecord.State, of keys: [PromiseKey]) throws
}

/// The limits of counts per item, and their half-life.
public struct WatchLimits: Hashable, Sendable {
  /// The maximum number of items with learned curves.
  public var items = 100_000
  /// The maximum number of promises in the ledger, each for a file's version on a network.
  public var promises = 100_000
  /// The half-life of a view, in hours.
  public var halvingHours = 168

  /// Creates the default limits.
  public init() {}
}

/// The counts of a watched item.
public struct WatchedItem: Hashable, Sendable {
  /// The id of the item.
  @ByBytes public var id: String
  /// The counts.
  public let record: WatchRecord
  /// The curve that pages show; `nil` for a deleted item.
  public let published: [WatchPoint]?

  /// Creates a watched item.
  public init(id: String, record: WatchRecord, published: [WatchPoint]?) {
    self.record = record
    self.published = published
    self.id = id
  }
}
