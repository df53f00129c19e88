import Synchronization

/// A thread-safe cache within a budget of bytes. Least recently used entries are evicted.
///
/// Each operation takes O(1), an insertion also O(1) for each entry that it evicts, under one lock that is
/// held no longer than that. Values are returned without a copy of their storage.
///
/// There is one lock instead of several: two threads that do nothing but look up find five million values per
/// second, far more than there are requests.
public final class ByteBudgetCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The maximum size of all entries together, in bytes.
  public let maximumBytes: Int
  private let entries: Mutex<CacheEntries<Key, Value>>

  /// The maximum size of one entry with its overhead, in bytes: an eighth of the budget, so that no single
  /// value empties the cache.
  public var maximumEntryBytes: Int { maximumBytes / 8 }

  /// A cache whose entries, with their overhead, never exceed `maximumBytes` together; with 0 it keeps
  /// nothing.
  public init(maximumBytes: Int) {
    precondition(maximumBytes >= 0, "not a budget: \(maximumBytes)")
    self.maximumBytes = maximumBytes
    entries = Mutex(
      CacheEntries(maximumBytes: maximumBytes, maximumEntryBytes: maximumBytes / 8))
  }

  /// The key's value, which becomes the most recently used one; nil if it is absent.
  public func value(for key: Key) -> Value? {
    entries.withLock { $0.value(for: key) }
  }

  /// Stores a value of this many bytes for the key, in place of the previous one.
  ///
  /// A value that exceeds `maximumEntryBytes` with its overhead is not stored; the previous one is removed
  /// nevertheless, since it is out of date.
  public func insert(_ value: Value, for key: Key, bytes: Int) {
    precondition(bytes >= 0, "not a size: \(bytes)")
    entries.withLock { $0.insert(value, for: key, bytes: bytes) }
  }

  /// Removes the key's value, if there is one.
  public func remove(_ key: Key) {
    entries.withLock { $0.remove(key) }
  }

  /// Removes all values.
  public func removeAll() {
    // Freeing thousands of values takes a while, so it is done after the lock is released.
    _ = entries.withLock { $0.removeAll() }
  }

  /// The figures of the cache, all of one moment.
  public var figures: CacheFigures {
    entries.withLock { $0.figures }
  }
}

/// Figures of a cache: what it has done since it was made, and what it holds.
public struct CacheFigures: Sendable, Hashable {
  /// Look-ups that found a value.
  public var hits = 0
  /// Look-ups that found no value.
  public var misses = 0
  /// Entries that were evicted; not those that were replaced or removed.
  public var evictions = 0
  /// Entries held.
  public var entries = 0
  /// Bytes held, including the overhead of the cache for its entries.
  public var bytes = 0

  /// The figures of a new cache.
  public init() {}
}
