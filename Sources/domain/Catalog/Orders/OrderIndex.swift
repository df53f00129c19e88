import Feed

/// The entry of a post in a feed's order.
public struct OrderEntry: Hashable, Sendable {
  /// The position of the entry.
  public let position: Position
  /// The store's number of the post.
  public let post: Int64
  /// The post's time; `nil` if it is unknown.
  public let publishedAt: Timestamp?

  /// Creates the entry of a post at a position.
  public init(position: Position, post: Int64, publishedAt: Timestamp?) {
    self.position = position
    self.post = post
    self.publishedAt = publishedAt
  }
}

/// A feed's total order in memory: O(log n) lookups from offset to entry and from position to offset.
///
/// Theory of operation. The sorted entries are divided into chunks of a few hundred; a list beside them
/// holds the offset at which each chunk starts. A lookup is a binary search over the chunks and one within
/// a chunk. The index is a value: a copy shares every chunk, and a change copies only the chunks it touches
/// and the list of chunks, so that readers keep their order while a writer makes the next one.
///
/// Before it is read whole, an order may be partial: its top, and the total number of entries.
public struct OrderIndex: Sendable {
  /// Chunks are split above this count; new chunks are half full.
  static let chunkCapacity = 1024

  /// The bounds of a chunk, which searches compare, so that they only touch the chunk that they find.
  private struct Bound {
    /// The number of entries before the chunk.
    let start: Int
    /// The key of the chunk's last entry.
    let lastKey: Int64
  }

  let chunks: [OrderChunk]
  /// One bound per chunk, and one at the end of all entries.
  private let bounds: [Bound]
  /// The number of entries of the whole order.
  public let count: Int
  /// The newest time of any entry; `nil` if no entry has a time, or the order is partial.
  public let newestPublishedAt: Timestamp?

  /// Creates an empty order.
  public init() {
    self.init(chunks: [])
  }

  /// Creates the order of these entries, which may be unsorted.
  public init(_ entries: [OrderEntry]) {
    var builder = Builder()
    for entry in entries.sorted(by: { $0.position < $1.position }) { builder.append(entry) }
    self = builder.index()
  }

  /// Creates a partial order: its top, and the total number of entries.
  public init(top: OrderIndex, count: Int) {
    precondition(count >= top.count, "the top has more than there are")
    chunks = top.chunks
    bounds = top.bounds
    self.count = count
    newestPublishedAt = count == top.count ? top.newestPublishedAt : nil
  }

  /// Creates a partial order from a window: offsets and positions within the window are correct, and so is
  /// the top.
  init(_ window: OrderWindow) {
    let held = OrderIndex(window.entries)
    // The top is added if the window does not begin with it.
    if let first = window.first, window.offset > 0 || window.entries.isEmpty {
      let top = OrderIndex([first])
      chunks = top.chunks + held.chunks
      bounds =
        top.bounds.prefix(1)
        + held.bounds.map { Bound(start: $0.start + window.offset, lastKey: $0.lastKey) }
    } else {
      (chunks, bounds) = (held.chunks, held.bounds)
    }
    count = window.count
    newestPublishedAt = nil
  }

  init(chunks: [OrderChunk]) {
    self.chunks = chunks
    var bounds: [Bound] = []
    bounds.reserveCapacity(chunks.count + 1)
    var start = 0
    var newest = OrderChunk.unknownTime
    for chunk in chunks {
      bounds.append(Bound(start: start, lastKey: chunk.lastKey))
      start += chunk.count
      newest = max(newest, chunk.newest)
    }
    bounds.append(Bound(start: start, lastKey: .max))
    self.bounds = bounds
    count = start
    assert(
      zip(chunks, chunks.dropFirst()).allSatisfy {
        $0.position(at: $0.count - 1) < $1.position(at: 0)
      }, "chunks are not in order")
    newestPublishedAt = newest == OrderChunk.unknownTime ? nil : Timestamp(microseconds: newest)
  }

  /// The number of entries from the top that can be read.
  public var heldCount: Int { bounds[bounds.count - 1].start }

  /// The approximate memory in bytes, without what it shares with the other order.
  func heldBytes(beside other: OrderIndex? = nil) -> Int {
    var bytes = bounds.count * 24 + 100
    var theirs = 0
    for (own, chunk) in chunks.enumerated() {
      if let other {
        // Shared chunks have the same last key and are in the same order.
        while theirs < other.chunks.count, other.bounds[theirs].lastKey < bounds[own].lastKey {
          theirs += 1
        }
        if theirs < other.chunks.count, other.chunks[theirs] === chunk {
          theirs += 1
          continue
        }
      }
      bytes += chunk.heldBytes
    }
    return bytes
  }

  /// Whether all entries are in memory; in a partial order, only offsets below `heldCount` are valid.
  public var isWhole: Bool { heldCount == count }
}

// MARK: Reading

extension OrderIndex {
  /// The entry at an offset from the top; `offset` must be in `0..<heldCount`.
  public subscript(offset: Int) -> OrderEntry {
    let chunk = chunkIndex(ofOffset: offset)
    return chunks[chunk][offset - bounds[chunk].start]
  }

  /// Returns the entries at these offsets, which must be in `0..<heldCount`; an empty range may be
  /// anywhere.
  public func entries(in range: Range<Int>) -> [OrderEntry] {
    var result: [OrderEntry] = []
    result.reserveCapacity(range.count)
    forEachChunk(in: range) { chunk, range in
      result.append(contentsOf: range.lazy.map { chunk[$0] })
    }
    return result
  }

  /// Returns the position of the entry at an offset, which must be in `0..<heldCount`.
  public func position(at offset: Int) -> Position {
    let chunk = chunkIndex(ofOffset: offset)
    return chunks[chunk].position(at: offset - bounds[chunk].start)
  }

  /// Returns the positions of the first and last entry of a nonempty range in `0..<heldCount`.
  func ends(of range: Range<Int>) -> (first: Position, last: Position) {
    let last = range.upperBound - 1
    let chunk = chunkIndex(ofOffset: range.lowerBound)
    let start = bounds[chunk].start
    let first = chunks[chunk].position(at: range.lowerBound - start)
    guard last < bounds[chunk + 1].start else { return (first, position(at: last)) }
    return (first, chunks[chunk].position(at: last - start))
  }

  /// Returns the numbers of the posts at these offsets; same preconditions as `entries(in:)`.
  public func posts(in range: Range<Int>) -> [Int64] {
    var result: [Int64] = []
    result.reserveCapacity(range.count)
    forEachChunk(in: range) { chunk, range in
      result.append(contentsOf: chunk.posts[range])
    }
    return result
  }

  /// The numbers of all posts, from the top.
  var allPosts: [Int64] {
    chunks.flatMap(\.posts)
  }

  /// Every entry, from the top.
  public var allEntries: [OrderEntry] { entries(in: 0..<heldCount) }

  private func forEachChunk(in range: Range<Int>, _ body: (OrderChunk, Range<Int>) -> Void) {
    guard !range.isEmpty else { return }
    var chunk = chunkIndex(ofOffset: range.lowerBound)
    var offset = range.lowerBound
    while offset < range.upperBound {
      let end = min(range.upperBound, bounds[chunk + 1].start)
      body(chunks[chunk], offset - bounds[chunk].start..<end - bounds[chunk].start)
      offset = end
      chunk += 1
    }
  }

  /// Returns the number of entries above the position, whether or not it has an entry.
  public func offset(of position: Position) -> Int {
    let chunk = chunkIndex(holding: position)
    guard chunk < chunks.count else { return count }
    return bounds[chunk].start + chunks[chunk].lowerBound(of: position)
  }

  /// Returns the number of entries above or at the position.
  public func offset(after position: Position) -> Int {
    let chunk = chunkIndex(holding: position)
    guard chunk < chunks.count else { return count }
    let index = chunks[chunk].lowerBound(of: position)
    let isThere = chunks[chunk].order(at: index, comparedTo: position) == 0
    return bounds[chunk].start + index + (isThere ? 1 : 0)
  }
}

// MARK: Searches

extension OrderIndex {
  /// Returns the index of the chunk that contains the offset.
  private func chunkIndex(ofOffset offset: Int) -> Int {
    var low = 0
    var high = chunks.count - 1
    while low < high {
      let middle = (low + high + 1) / 2
      if bounds[middle].start <= offset { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// Returns the index of the first chunk whose last entry is not above the position; the number of chunks
  /// if there is none.
  func chunkIndex(holding position: Position) -> Int {
    var low = 0
    var high = chunks.count
    while low < high {
      let middle = (low + high) / 2
      if isLastEntry(of: middle, above: position) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  private func isLastEntry(of chunk: Int, above position: Position) -> Bool {
    let (lastKey, key) = (bounds[chunk].lastKey, position.key.rawValue)
    guard lastKey == key else { return lastKey < key }
    return chunks[chunk].order(at: chunks[chunk].count - 1, comparedTo: position) < 0
  }
}

extension OrderIndex {
  /// Whether the orders consist of the same chunks: neither was changed since one was copied.
  package func sharesAll(with other: OrderIndex) -> Bool {
    chunks.elementsEqual(other.chunks, by: ===)
  }
}

extension OrderIndex {
  /// Builds an order from entries in order from the top down, without more memory than the order itself.
  public struct Builder {
    private var chunks: [OrderChunk] = []
    private var entries: [OrderChunk.Entry] = []
    private var ids: [UInt8] = []

    /// Creates an empty builder.
    public init() {}

    /// The number of entries so far.
    public private(set) var count = 0

    /// Appends an entry, which must be below the previous ones. `id` is UTF-8.
    public mutating func append(
      key: SortKey, id: UnsafeBufferPointer<UInt8>, post: Int64, publishedAt: Timestamp?
    ) {
      if entries.count >= OrderIndex.chunkCapacity / 2 { cut() }
      count += 1
      entries.append(
        OrderChunk.Entry(
          key: key.rawValue, post: post,
          time: publishedAt?.microseconds ?? OrderChunk.unknownTime,
          idStart: UInt32(ids.count), idCount: UInt32(id.count)))
      ids.append(contentsOf: id)
    }

    /// Appends an entry, which must be below the previous ones.
    public mutating func append(_ entry: OrderEntry) {
      var id = entry.position.id
      id.withUTF8 {
        append(
          key: entry.position.key, id: $0, post: entry.post, publishedAt: entry.publishedAt)
      }
    }

    private mutating func cut() {
      guard !entries.isEmpty else { return }
      // The chunk gets exact copies; the buffers with their capacity stay here for the next chunk.
      chunks.append(OrderChunk(entries, ids: Array(ids[...])))
      entries.removeAll(keepingCapacity: true)
      ids.removeAll(keepingCapacity: true)
    }

    /// Returns the order of the appended entries.
    public consuming func index() -> OrderIndex {
      cut()
      return OrderIndex(chunks: chunks)
    }
  }
}
