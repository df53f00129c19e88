import Feed

extension OrderIndex {
  /// Removes the entries at `removals`, then inserts `insertions`.
  ///
  /// Removing an absent entry and inserting at an occupied position have no effect, so changes can be
  /// replayed. Only chunks with changes are copied.
  public mutating func apply(removals: [Position], insertions: [OrderEntry]) {
    precondition(isWhole, "a part of an order takes no changes")
    var changes = OrderChanges(removals: removals, insertions: insertions)
    var result: [OrderChunk] = []
    result.reserveCapacity(chunks.count + insertions.count / Self.chunkCapacity + 1)
    var copied = 0
    while let position = changes.next {
      let hit = min(chunkIndex(holding: position), chunks.count - 1)
      // An entry below the last entry of all is added to the last chunk.
      let chunk = hit < 0 ? nil : chunks[hit]
      if hit > copied { result.append(contentsOf: chunks[copied..<hit]) }
      let isLast = hit == chunks.count - 1
      let merged = changes.merge(into: chunk, upTo: isLast ? nil : chunk)
      result.append(contentsOf: merged)
      copied = hit + 1
    }
    result.append(contentsOf: chunks[copied...])
    self = OrderIndex(chunks: result)
  }
}

/// The changes of an order, consumed from the top down.
private struct OrderChanges {
  private let removals: [Position]
  private let insertions: [OrderEntry]
  private var removal = 0
  private var insertion = 0

  init(removals: [Position], insertions: [OrderEntry]) {
    self.removals = removals.sorted()
    // The sort is stable: of two entries at one position the first one is used.
    self.insertions = insertions.sorted { $0.position < $1.position }
  }

  private var nextRemoval: Position? { removal < removals.count ? removals[removal] : nil }
  private var nextInsertion: Position? {
    insertion < insertions.count ? insertions[insertion].position : nil
  }

  /// The position of the next change.
  var next: Position? {
    guard let removal = nextRemoval else { return nextInsertion }
    guard let insertion = nextInsertion else { return removal }
    return min(removal, insertion)
  }

  /// Returns the chunk with the changes up to the last entry of `end`, or with all remaining ones.
  mutating func merge(into chunk: OrderChunk?, upTo end: OrderChunk?) -> [OrderChunk] {
    var merged = MergedEntries(reservingEntries: chunk?.count ?? 0, bytes: chunk?.ids.count ?? 0)
    var copied = 0
    while let position = next {
      if let end, end.order(at: end.count - 1, comparedTo: position) < 0 { break }
      let place = chunk?.lowerBound(of: position) ?? 0
      if let chunk { merged.append(chunk, copied..<place) }
      copied = place
      let isTaken = chunk?.isEntry(at: place, position) ?? false
      let isRemoved = takeRemovals(at: position)
      let insertion = takeInsertion(at: position)
      if isTaken, !isRemoved { continue }
      if isTaken { copied += 1 }
      if let insertion { merged.append(insertion) }
    }
    if let chunk { merged.append(chunk, copied..<chunk.count) }
    return merged.chunks
  }

  /// Whether the entry at the position is removed. Consumes the removals.
  private mutating func takeRemovals(at position: Position) -> Bool {
    let first = removal
    while nextRemoval == position { removal += 1 }
    return removal > first
  }

  /// Returns the entry to insert at the position. Consumes the insertions.
  private mutating func takeInsertion(at position: Position) -> OrderEntry? {
    guard nextInsertion == position else { return nil }
    let entry = insertions[insertion]
    while nextInsertion == position { insertion += 1 }
    return entry
  }
}

/// The entries that replace a chunk.
private struct MergedEntries {
  private var entries: [OrderChunk.Entry] = []
  private var ids: [UInt8] = []

  /// Creates an empty list, with capacity for `count` entries and for the bytes of their ids.
  init(reservingEntries count: Int, bytes: Int) {
    entries.reserveCapacity(count)
    ids.reserveCapacity(bytes)
  }

  mutating func append(_ chunk: OrderChunk, _ range: Range<Int>) {
    guard let first = range.first else { return }
    let start = chunk.entry(at: first).idStart
    let end = chunk.entry(at: range.upperBound - 1).idEnd
    let base = UInt32(ids.count)
    ids.append(contentsOf: chunk.ids[Int(start)..<end])
    for index in range { entries.append(chunk.entry(at: index).moved(from: start, to: base)) }
  }

  mutating func append(_ entry: OrderEntry) {
    let start = ids.count
    ids.append(contentsOf: entry.position.id.utf8)
    entries.append(
      OrderChunk.Entry(
        key: entry.position.key.rawValue, post: entry.post,
        time: entry.publishedAt?.microseconds ?? OrderChunk.unknownTime,
        idStart: UInt32(start), idCount: UInt32(ids.count - start)))
  }

  /// Chunks of equal size; more than one only where one would be too large.
  var chunks: [OrderChunk] {
    guard !entries.isEmpty else { return [] }
    guard entries.count > OrderIndex.chunkCapacity else { return [OrderChunk(entries, ids: ids)] }
    let pieces = (entries.count * 2 + OrderIndex.chunkCapacity - 1) / OrderIndex.chunkCapacity
    return (0..<pieces).map { piece in
      let range = entries.count * piece / pieces..<entries.count * (piece + 1) / pieces
      let start = entries[range.lowerBound].idStart
      let end = entries[range.upperBound - 1].idEnd
      return OrderChunk(
        entries[range].map { $0.moved(from: start, to: 0) }, ids: Array(ids[Int(start)..<end]))
    }
  }
}
