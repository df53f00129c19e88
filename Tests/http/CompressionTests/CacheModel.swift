import Compression

/// What a cache should do, in the plainest way.
struct CacheModel {
  let maximumBytes: Int
  let overheadBytes: Int
  /// The one that was used last stands last.
  private var entries: [(key: Int, value: Int, bytes: Int)] = []
  private(set) var figures = CacheFigures()

  init(maximumBytes: Int, overheadBytes: Int) {
    self.maximumBytes = maximumBytes
    self.overheadBytes = overheadBytes
  }

  mutating func value(for key: Int) -> Int? {
    guard let index = entries.firstIndex(where: { $0.key == key }) else {
      figures.misses += 1
      return nil
    }
    figures.hits += 1
    entries.append(entries.remove(at: index))
    return entries.last?.value
  }

  mutating func insert(_ value: Int, for key: Int, bytes: Int) {
    remove(key)
    let bytes = bytes + overheadBytes
    guard bytes <= maximumBytes / 8 else { return }
    entries.append((key, value, bytes))
    while entries.reduce(0, { $0 + $1.bytes }) > maximumBytes {
      entries.removeFirst()
      figures.evictions += 1
    }
    count()
  }

  mutating func remove(_ key: Int) {
    entries.removeAll { $0.key == key }
    count()
  }

  mutating func removeAll() {
    entries = []
    count()
  }

  private mutating func count() {
    figures.entries = entries.count
    figures.bytes = entries.reduce(0) { $0 + $1.bytes }
  }
}
