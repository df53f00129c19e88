/// What a cache has done since it was made, and what it holds.
public struct CacheFigures: Sendable, Hashable {
  /// Look-ups that found a value.
  public var hits = 0
  /// Look-ups that found none.
  public var misses = 0
  /// Entries that gave way to newer ones; not those that were replaced or removed.
  public var evictions = 0
  /// Entries held.
  public var entries = 0
  /// Bytes held, with what the cache itself needs for its entries.
  public var bytes = 0

  /// The figures of a new cache.
  public init() {}
}
