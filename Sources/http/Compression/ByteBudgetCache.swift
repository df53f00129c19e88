import Synchronization

/// A cache within a budget of bytes, for all threads: what was not used for the longest gives way.
///
/// Each operation takes O(1), an insertion O(1) for each entry that gives way to it, under one lock
/// that is held for no more than that. A value is handed out as it is, without a copy of its storage.
///
/// One lock and not several: two threads that do nothing but look up find five million values a
/// second, which is far more than there are requests.
public final class ByteBudgetCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// What the entries may take together, in bytes.
  public let maximumBytes: Int
  private let entries: Mutex<CacheEntries<Key, Value>>

  /// What one entry may take, in bytes and with its overhead: an eighth of the budget, so that no
  /// single value empties the cache.
  public var maximumEntryBytes: Int { maximumBytes / 8 }

  /// A cache whose entries, with their overhead, never take more than `maximumBytes` together; with 0
  /// it keeps nothing.
  public init(maximumBytes: Int) {
    precondition(maximumBytes >= 0, "not a budget: \(maximumBytes)")
    self.maximumBytes = maximumBytes
    entries = Mutex(
      CacheEntries(maximumBytes: maximumBytes, maximumEntryBytes: maximumBytes / 8))
  }

  /// The key's value, which becomes the one that was used last; nil if it is not here.
  public func value(for key: Key) -> Value? {
    entries.withLock { $0.value(for: key) }
  }

  /// Keeps a value of this many bytes for the key, in place of the previous one.
  ///
  /// A value that takes more than `maximumEntryBytes` with its overhead is not kept; the one before
  /// goes all the same, since it is out of date.
  public func insert(_ value: Value, for key: Key, bytes: Int) {
    precondition(bytes >= 0, "not a size: \(bytes)")
    entries.withLock { $0.insert(value, for: key, bytes: bytes) }
  }

  /// Forgets the key's value, if it is here.
  public func remove(_ key: Key) {
    entries.withLock { $0.remove(key) }
  }

  /// Forgets every value.
  public func removeAll() {
    // To free thousands of values takes a while, so that is done after the lock is given up.
    _ = entries.withLock { $0.removeAll() }
  }

  /// What it has done so far and what it holds, all of one moment.
  public var figures: CacheFigures {
    entries.withLock { $0.figures }
  }
}

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
