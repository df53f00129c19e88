/// One post's entry in a feed's order.
public struct OrderEntry: Hashable, Sendable {
  /// Where it stands.
  public let position: Position
  /// The store's own number of the post.
  public let post: Int64
  /// The post's time; `nil` where it is unknown.
  public let publishedAt: Timestamp?

  /// The entry of a post at a position.
  public init(position: Position, post: Int64, publishedAt: Timestamp?) {
    self.position = position
    self.post = post
    self.publishedAt = publishedAt
  }
}

/// A feed's total order in memory: from offset to entry and from position to offset in O(log n).
///
/// Theory of operation. The sorted entries are cut into chunks of a few hundred; beside them stands
/// the offset at which each chunk starts. A look-up is a binary search over the chunks and one within
/// a chunk. The index is a value: copying it shares every chunk, and a change copies the chunk it
/// hits and the list of chunks, so that readers keep the order they started with while a writer makes
/// the next one. Many changes at once are merged in one pass instead.
public struct OrderIndex: Sendable {
  /// Chunks are split beyond this; a merge fills them to half.
  static let chunkCapacity = 512

  private var chunks: [[OrderEntry]] = []
  /// `starts[i]` entries lie before `chunks[i]`; one more at the end holds the count.
  private var starts: [Int] = [0]

  /// An order of nothing.
  public init() {}

  /// The order of these entries, which may come in any order.
  public init(_ entries: [OrderEntry]) {
    // A load in index order is sorted already, which the standard library's sort notices.
    fill(with: entries.sorted { $0.position < $1.position })
  }

  /// How many entries there are.
  public var count: Int { starts[starts.count - 1] }

  /// The entry at an offset from the top; `offset` must be in `0..<count`.
  public subscript(offset: Int) -> OrderEntry {
    let chunk = chunkIndex(ofOffset: offset)
    return chunks[chunk][offset - starts[chunk]]
  }

  /// The entries at these offsets, which must lie in `0..<count`.
  public func entries(in range: Range<Int>) -> [OrderEntry] {
    guard !range.isEmpty else { return [] }
    var result: [OrderEntry] = []
    result.reserveCapacity(range.count)
    var chunk = chunkIndex(ofOffset: range.lowerBound)
    var offset = range.lowerBound
    while offset < range.upperBound {
      let from = offset - starts[chunk]
      let to = min(range.upperBound - starts[chunk], chunks[chunk].count)
      result.append(contentsOf: chunks[chunk][from..<to])
      offset = starts[chunk] + to
      chunk += 1
    }
    return result
  }

  /// How many entries stand above the position, whether or not an entry is there.
  public func offset(of position: Position) -> Int {
    let chunk = chunkIndex(holding: position)
    guard chunk < chunks.count else { return count }
    return starts[chunk] + Self.lowerBound(of: position, in: chunks[chunk])
  }

  /// How many entries stand above the position or at it.
  public func offset(after position: Position) -> Int {
    let offset = offset(of: position)
    return offset < count && self[offset].position == position ? offset + 1 : offset
  }

  /// The newest time of any entry.
  public var newestPublishedAt: Timestamp? {
    var newest: Timestamp?
    for chunk in chunks {
      for entry in chunk {
        guard let time = entry.publishedAt else { continue }
        if newest.map({ $0 < time }) ?? true { newest = time }
      }
    }
    return newest
  }

  /// Every entry, from the top.
  public var allEntries: [OrderEntry] { chunks.flatMap { $0 } }
}

// MARK: Changes

extension OrderIndex {
  /// Above this many changes, and above one for every 64 entries, a merge of everything is cheaper
  /// than one search and copy for each.
  private static let mergeThreshold = 64

  /// Takes out the entries at `removals` and puts in `insertions`, in this order.
  ///
  /// A removal of what is not there, and an insertion of a position that is taken, change nothing:
  /// changes can be replayed.
  public mutating func apply(removals: [Position], insertions: [OrderEntry]) {
    if removals.count + insertions.count > max(Self.mergeThreshold, count / 64) {
      merge(removals: removals, insertions: insertions)
    } else {
      for position in removals { remove(position) }
      for entry in insertions { insert(entry) }
    }
  }

  private mutating func insert(_ entry: OrderEntry) {
    guard !chunks.isEmpty else {
      fill(with: [entry])
      return
    }
    let chunk = min(chunkIndex(holding: entry.position), chunks.count - 1)
    let index = Self.lowerBound(of: entry.position, in: chunks[chunk])
    if index < chunks[chunk].count, chunks[chunk][index].position == entry.position { return }
    chunks[chunk].insert(entry, at: index)
    if chunks[chunk].count > Self.chunkCapacity {
      let half = chunks[chunk].count / 2
      chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
      chunks[chunk].removeSubrange(half...)
    }
    renumber(from: chunk)
  }

  private mutating func remove(_ position: Position) {
    let chunk = chunkIndex(holding: position)
    guard chunk < chunks.count else { return }
    let index = Self.lowerBound(of: position, in: chunks[chunk])
    guard index < chunks[chunk].count, chunks[chunk][index].position == position else { return }
    chunks[chunk].remove(at: index)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    renumber(from: chunk)
  }

  private mutating func merge(removals: [Position], insertions: [OrderEntry]) {
    let gone = Set(removals)
    let added = insertions.sorted { $0.position < $1.position }
    var merged: [OrderEntry] = []
    merged.reserveCapacity(count + added.count)
    var next = added.startIndex
    func append(_ entry: OrderEntry) {
      if merged.last?.position != entry.position { merged.append(entry) }
    }
    for chunk in chunks {
      for entry in chunk where gone.isEmpty || !gone.contains(entry.position) {
        while next < added.endIndex, added[next].position < entry.position {
          append(added[next])
          next += 1
        }
        append(entry)
      }
    }
    while next < added.endIndex {
      append(added[next])
      next += 1
    }
    fill(with: merged)
  }

  private mutating func fill(with sorted: [OrderEntry]) {
    let step = Self.chunkCapacity / 2
    chunks = stride(from: 0, to: sorted.count, by: step).map { start in
      Array(sorted[start..<min(start + step, sorted.count)])
    }
    starts = [0]
    renumber(from: 0)
  }

  private mutating func renumber(from first: Int) {
    starts.removeSubrange((first + 1)...)
    for chunk in chunks[min(first, chunks.count)...] {
      starts.append(starts[starts.count - 1] + chunk.count)
    }
  }
}

// MARK: Searches

extension OrderIndex {
  /// The chunk in which the offset lies.
  private func chunkIndex(ofOffset offset: Int) -> Int {
    var low = 0
    var high = chunks.count - 1
    while low < high {
      let middle = (low + high + 1) / 2
      if starts[middle] <= offset { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// The first chunk whose last entry is not above the position; the number of chunks if none is.
  private func chunkIndex(holding position: Position) -> Int {
    var low = 0
    var high = chunks.count
    while low < high {
      let middle = (low + high) / 2
      if chunks[middle][chunks[middle].count - 1].position < position {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  private static func lowerBound(of position: Position, in chunk: [OrderEntry]) -> Int {
    var low = 0
    var high = chunk.count
    while low < high {
      let middle = (low + high) / 2
      if chunk[middle].position < position { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
