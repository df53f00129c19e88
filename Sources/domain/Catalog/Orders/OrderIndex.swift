import Feed

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
/// Theory of operation. The sorted entries are cut into chunks of a few hundred; a list beside them holds
/// the offset at which each chunk starts. A look-up is a binary search over the chunks and one within
/// a chunk. The index is a value: copying it shares every chunk, and a change copies only the chunks it
/// hits and the list of chunks, so that readers keep the order they started with while a writer makes
/// the next one.
///
/// Before it is read whole, an order may be a part: its top, and how many entries there are in all.
public struct OrderIndex: Sendable {
  /// Chunks are split beyond this; they are filled to half.
  static let chunkCapacity = 1024

  /// What searches look at, so that they go to no chunk but the one that they find.
  private struct Bound {
    /// How many entries lie before the chunk.
    let start: Int
    /// The key of its last entry.
    let lastKey: Int64
  }

  let chunks: [OrderChunk]
  /// One for each chunk; one more at the end starts where there are no more entries.
  private let bounds: [Bound]
  /// How many entries there are.
  public let count: Int
  /// The newest time of any entry; `nil` where none has a time, and as long as only a part is there.
  public let newestPublishedAt: Timestamp?

  /// An order of nothing.
  public init() {
    self.init(chunks: [])
  }

  /// The order of these entries, which may come in any order.
  public init(_ entries: [OrderEntry]) {
    var builder = Builder()
    for entry in entries.sorted(by: { $0.position < $1.position }) { builder.append(entry) }
    self = builder.index()
  }

  /// A part of an order: its top, and how many entries there are in all.
  public init(top: OrderIndex, count: Int) {
    precondition(count >= top.count, "the top has more than there are")
    chunks = top.chunks
    bounds = top.bounds
    self.count = count
    newestPublishedAt = count == top.count ? top.newestPublishedAt : nil
  }

  /// What a window has of an order: offsets and positions within it are right, and so is the top.
  init(_ window: OrderWindow) {
    let held = OrderIndex(window.entries)
    // The top is there in any case, and where the window has no rows it is all there is.
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

  /// How many entries from the top are there to be read.
  public var heldCount: Int { bounds[bounds.count - 1].start }

  /// About what it takes in memory without what it shares with the other order.
  func heldBytes(beside other: OrderIndex? = nil) -> Int {
    var bytes = bounds.count * 24 + 100
    var theirs = 0
    for (own, chunk) in chunks.enumerated() {
      if let other {
        // Chunks that are shared have the same last key, and stand in the same order.
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

  /// Everything is there; of a part, only offsets below `heldCount` may be asked for.
  public var isWhole: Bool { heldCount == count }
}

// MARK: Reading

extension OrderIndex {
  /// The entry at an offset from the top; `offset` must be in `0..<heldCount`.
  public subscript(offset: Int) -> OrderEntry {
    let chunk = chunkIndex(ofOffset: offset)
    return chunks[chunk][offset - bounds[chunk].start]
  }

  /// The entries at these offsets, which must lie in `0..<heldCount`; a range without any may lie
  /// anywhere.
  public func entries(in range: Range<Int>) -> [OrderEntry] {
    var result: [OrderEntry] = []
    result.reserveCapacity(range.count)
    forEachChunk(in: range) { chunk, range in
      result.append(contentsOf: range.lazy.map { chunk[$0] })
    }
    return result
  }

  /// Where the entry at an offset stands; `offset` must be in `0..<heldCount`.
  public func position(at offset: Int) -> Position {
    let chunk = chunkIndex(ofOffset: offset)
    return chunks[chunk].position(at: offset - bounds[chunk].start)
  }

  /// Where the first and the last entry of a range stand that has any and lies in `0..<heldCount`.
  func ends(of range: Range<Int>) -> (first: Position, last: Position) {
    let last = range.upperBound - 1
    let chunk = chunkIndex(ofOffset: range.lowerBound)
    let start = bounds[chunk].start
    let first = chunks[chunk].position(at: range.lowerBound - start)
    guard last < bounds[chunk + 1].start else { return (first, position(at: last)) }
    return (first, chunks[chunk].position(at: last - start))
  }

  /// The numbers of the posts at these offsets, as `entries` has them.
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

  /// How many entries stand above the position, whether or not an entry is there.
  public func offset(of position: Position) -> Int {
    let chunk = chunkIndex(holding: position)
    guard chunk < chunks.count else { return count }
    return bounds[chunk].start + chunks[chunk].lowerBound(of: position)
  }

  /// How many entries stand above the position or at it.
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
  /// The chunk in which the offset lies.
  private func chunkIndex(ofOffset offset: Int) -> Int {
    var low = 0
    var high = chunks.count - 1
    while low < high {
      let middle = (low + high + 1) / 2
      if bounds[middle].start <= offset { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// The first chunk whose last entry is not above the position; the number of chunks if none is.
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
  /// The orders are made of the very same chunks: neither was changed since one was copied.
  package func sharesAll(with other: OrderIndex) -> Bool {
    chunks.elementsEqual(other.chunks, by: ===)
  }
}

extension OrderIndex {
  /// Makes an order of entries that come from the top down, without more memory than the order itself.
  public struct Builder {
    private var chunks: [OrderChunk] = []
    private var entries: [OrderChunk.Entry] = []
    private var ids: [UInt8] = []

    /// A builder that has nothing yet.
    public init() {}

    /// How many entries it has.
    public private(set) var count = 0

    /// Appends an entry, which must stand below the ones before it. `id` is UTF-8.
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

    /// Appends an entry, which must stand below the ones before it.
    public mutating func append(_ entry: OrderEntry) {
      var id = entry.position.id
      id.withUTF8 {
        append(
          key: entry.position.key, id: $0, post: entry.post, publishedAt: entry.publishedAt)
      }
    }

    private mutating func cut() {
      guard !entries.isEmpty else { return }
      // The chunk has copies: what was reserved beyond need stays here, for the next one.
      chunks.append(OrderChunk(entries, ids: Array(ids[...])))
      entries.removeAll(keepingCapacity: true)
      ids.removeAll(keepingCapacity: true)
    }

    /// The order of what was appended.
    public consuming func index() -> OrderIndex {
      cut()
      return OrderIndex(chunks: chunks)
    }
  }
}
