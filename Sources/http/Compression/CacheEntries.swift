/// The entries of a `ByteBudgetCache`, behind its lock.
struct CacheEntries<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  struct Entry: Sendable {
    let key: Key
    let value: Value
    /// The size with the overhead.
    let bytes: Int
  }

  /// The approximate cost of an entry besides its value's bytes: its slot in the list, its key and slot
  /// number in the dictionary, which is at least three eighths full once it has grown, and the header of the
  /// value's storage.
  static var overheadBytes: Int {
    MemoryLayout<RecencyList<Entry>.Slot>.stride
      + (MemoryLayout<Key>.stride + MemoryLayout<Int>.stride) * 8 / 3 + 48
  }

  private let maximumBytes: Int
  private let maximumEntryBytes: Int
  private var slots: [Key: Int] = [:]
  private var list = RecencyList<Entry>()
  private(set) var figures = CacheFigures()

  init(maximumBytes: Int, maximumEntryBytes: Int) {
    self.maximumBytes = maximumBytes
    self.maximumEntryBytes = maximumEntryBytes
  }

  mutating func value(for key: Key) -> Value? {
    guard let slot = slots[key] else {
      figures.misses += 1
      return nil
    }
    figures.hits += 1
    list.touch(slot)
    return list[slot].value
  }

  mutating func insert(_ value: Value, for key: Key, bytes: Int) {
    remove(key)
    guard bytes <= maximumEntryBytes - Self.overheadBytes else { return }
    let entry = Entry(key: key, value: value, bytes: bytes + Self.overheadBytes)
    while figures.bytes + entry.bytes > maximumBytes, let oldest = list.oldest {
      remove(list[oldest].key)
      figures.evictions += 1
    }
    slots[key] = list.insert(entry)
    figures.entries += 1
    figures.bytes += entry.bytes
    assert(figures.bytes <= maximumBytes && figures.entries == slots.count, "beyond the budget")
  }

  mutating func remove(_ key: Key) {
    guard let slot = slots.removeValue(forKey: key) else { return }
    figures.entries -= 1
    figures.bytes -= list.remove(slot).bytes
    assert(figures.bytes >= 0 && figures.entries == slots.count, "the sums are not the entries'")
  }

  /// Removes all entries with their memory, and returns them.
  mutating func removeAll() -> CacheEntries {
    let removed = self
    slots = [:]
    list = RecencyList()
    figures.entries = 0
    figures.bytes = 0
    return removed
  }
}
