import Feed

/// What a whole import did to the store.
public struct ImportSummary: Hashable, Sendable {
  /// Records whose post or feed was not there before.
  public var added = 0
  /// Records that changed what was there.
  public var changed = 0
  /// Records that say what was there already.
  public var unchanged = 0
  /// Feeds that were ranked anew, in the order of their names.
  @ByBytes public var rankedAnew: [String] = []

  /// A summary of a run that has done nothing yet.
  public init() {}
}

/// A run of records into the store.
public protocol FeedImport: AnyObject, Sendable {
  /// Writes the records, all or none of them, durably.
  ///
  /// - Throws: what the store throws; then nothing of these records is in it.
  func write(_ records: [SeedRecord]) throws
  /// Makes the new order of feeds that were ranked anew the current one.
  ///
  /// - Returns: what the whole run did.
  /// - Throws: what the store throws.
  func finish() throws -> ImportSummary
}
