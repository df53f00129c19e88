/// What an engine counted since it began.
public struct PrefetchCounts: Hashable, Sendable, Codable {
  /// Items that the person looked at, each time.
  public internal(set) var viewedItems = 0
  /// Of these, pictures that were not there.
  public internal(set) var imageLoaders = 0
  /// Of these, clips short of what starts them.
  public internal(set) var videoLoaders = 0
  /// Transfers that were begun.
  public internal(set) var requests = 0
  /// Bytes that arrived.
  public internal(set) var fetchedBytes = 0
  /// Of these, bytes of transfers that were cancelled: kept, all the same.
  public internal(set) var cancelledBytes = 0
  /// Bytes that were held and evicted.
  public internal(set) var evictedBytes = 0
  /// Pages that were asked for.
  public internal(set) var pages = 0
}
