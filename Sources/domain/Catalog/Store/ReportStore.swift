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
  /// - Returns: the batches behind `batch`; the last one has the parts that were counted, unless none was.
  func add(
    _ parts: [CountedPart], at hour: Int, after batch: Int64, forgettingBefore oldest: Int64,
    cellsPerHour: Int
  ) throws -> [ReportMemory.Batch]
  /// The batches that are remembered, in the order of their numbers.
  func reportBatches() throws -> [ReportMemory.Batch]
  /// Hands out the cells from an hour on, one by one, in the order of their keys.
  func readReportCells(
    since hour: Int, _ body: (ReportCellKey, ReportCell) throws -> Void) throws
  /// Deletes the cells of before an hour, and the hashes of before another.
  func dropReports(before hour: Int, fingerprintsBefore other: Int) throws
}
