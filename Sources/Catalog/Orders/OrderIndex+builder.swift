import Feed

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
