extension OrderIndex {
  /// Takes out the entries at `removals` and puts in `insertions`, in this order.
  ///
  /// A removal of what is not there, and an insertion of a position that is taken, change nothing:
  /// changes can be replayed. Only the chunks that are hit are made anew.
  public mutating func apply(removals: [Position], insertions: [OrderEntry]) {
    precondition(isWhole, "a part of an order takes no changes")
    var changes = OrderChanges(removals: removals, insertions: insertions)
    var result: [OrderChunk] = []
    result.reserveCapacity(chunks.count + insertions.count / Self.chunkCapacity + 1)
    var copied = 0
    while let position = changes.next {
      let hit = min(chunkIndex(holding: position), chunks.count - 1)
      // What is below the last entry of all goes into the last chunk.
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

/// Changes of an order, taken from the top down.
private struct OrderChanges {
  private let removals: [Position]
  private let insertions: [OrderEntry]
  private var removal = 0
  private var insertion = 0

  init(removals: [Position], insertions: [OrderEntry]) {
    self.removals = removals.sorted()
    // Stable: of two at one position the first counts.
    self.insertions = insertions.sorted { $0.position < $1.position }
  }

  private var nextRemoval: Position? { removal < removals.count ? removals[removal] : nil }
  private var nextInsertion: Position? {
    insertion < insertions.count ? insertions[insertion].position : nil
  }

  /// Where the next change is.
  var next: Position? {
    guard let removal = nextRemoval else { return nextInsertion }
    guard let insertion = nextInsertion else { return removal }
    return min(removal, insertion)
  }

  /// The chunk with the changes down to the last entry of `end`, or with all that are left.
  mutating func merge(into chunk: OrderChunk?, upTo end: OrderChunk?) -> [OrderChunk] {
    var merged = MergedEntries()
    for index in 0..<(chunk?.count ?? 0) {
      let chunk = chunk!
      insert(into: &merged) { chunk.order(at: index, comparedTo: $0) > 0 }
      var isRemoved = false
      while let position = nextRemoval {
        let order = chunk.order(at: index, comparedTo: position)
        if order < 0 { break }
        isRemoved = isRemoved || order == 0
        removal += 1
      }
      if isRemoved { continue }
      // The place is taken.
      while let position = nextInsertion, chunk.order(at: index, comparedTo: position) == 0 {
        insertion += 1
      }
      merged.append(chunk, at: index)
    }
    insert(into: &merged) { position in
      end.map { $0.order(at: $0.count - 1, comparedTo: position) >= 0 } ?? true
    }
    if end == nil { removal = removals.count }
    return merged.chunks
  }

  private mutating func insert(
    into merged: inout MergedEntries, while isInReach: (Position) -> Bool
  ) {
    while let position = nextInsertion, isInReach(position) {
      merged.append(insertions[insertion])
      repeat { insertion += 1 } while nextInsertion == position
    }
  }
}

/// The entries that take the place of a chunk.
private struct MergedEntries {
  private var entries: [OrderChunk.Entry] = []
  private var ids: [UInt8] = []

  mutating func append(_ chunk: OrderChunk, at index: Int) {
    let entry = chunk.entries[index]
    append(entry.key, entry.post, entry.time, chunk.ids[entry.idRange])
  }

  mutating func append(_ entry: OrderEntry) {
    append(
      entry.position.key.rawValue, entry.post,
      entry.publishedAt?.microseconds ?? OrderChunk.unknownTime, entry.position.id.utf8)
  }

  private mutating func append(
    _ key: Int64, _ post: Int64, _ time: Int64, _ id: some Collection<UInt8>
  ) {
    let start = ids.count
    ids.append(contentsOf: id)
    entries.append(
      OrderChunk.Entry(
        key: key, post: post, time: time, idStart: UInt32(start),
        idCount: UInt32(ids.count - start)))
  }

  /// Chunks of equal size; more than one only where one would be too large.
  var chunks: [OrderChunk] {
    guard !entries.isEmpty else { return [] }
    guard entries.count > OrderIndex.chunkCapacity else { return [OrderChunk(entries, ids: ids)] }
    let pieces = (entries.count * 2 + OrderIndex.chunkCapacity - 1) / OrderIndex.chunkCapacity
    return (0..<pieces).map { piece in
      let range = entries.count * piece / pieces..<entries.count * (piece + 1) / pieces
      let start = entries[range.lowerBound].idStart
      let end = entries[range.upperBound - 1].idRange.upperBound
      return OrderChunk(
        entries[range].map { entry in
          OrderChunk.Entry(
            key: entry.key, post: entry.post, time: entry.time, idStart: entry.idStart - start,
            idCount: entry.idCount)
        }, ids: Array(ids[Int(start)..<end]))
    }
  }
}
