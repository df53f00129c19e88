import Feed

/// Names in the order of their bytes.
///
/// A value: a change copies the chunk that it hits and the list of chunks. Copies share the rest.
struct SortedNames: Sendable {
  /// Chunks are split above this count; new chunks are half full.
  static let chunkCapacity = 512

  /// No chunk is empty.
  private var chunks: [[ByteText]] = []

  /// A place between two names, above the first or below the last one.
  struct Place: Comparable {
    fileprivate let chunk: Int
    fileprivate let index: Int

    static func < (left: Place, right: Place) -> Bool {
      (left.chunk, left.index) < (right.chunk, right.index)
    }
  }

  /// Creates the list from distinct names.
  init(_ names: some Sequence<ByteText> = []) {
    let sorted = names.sorted()
    let size = Self.chunkCapacity / 2
    chunks = stride(from: 0, to: sorted.count, by: size).map {
      Array(sorted[$0..<min($0 + size, sorted.count)])
    }
  }

  mutating func insert(_ name: ByteText) {
    // A name below the last name of all is added to the last chunk.
    let hit = min(chunks.partition { $0[$0.count - 1] < name }, chunks.count - 1)
    guard hit >= 0 else { return chunks.append([name]) }
    let index = chunks[hit].partition { $0 < name }
    guard index == chunks[hit].count || chunks[hit][index] != name else { return }
    chunks[hit].insert(name, at: index)
    guard chunks[hit].count > Self.chunkCapacity else { return }
    let middle = chunks[hit].count / 2
    let lower = Array(chunks[hit][middle...])
    chunks[hit].removeLast(lower.count)
    chunks.insert(lower, at: hit + 1)
  }

  mutating func remove(_ name: ByteText) {
    let hit = chunks.partition { $0[$0.count - 1] < name }
    guard hit < chunks.count else { return }
    let index = chunks[hit].partition { $0 < name }
    guard chunks[hit][index] == name else { return }
    chunks[hit].remove(at: index)
    if chunks[hit].isEmpty { chunks.remove(at: hit) }
  }
}

// MARK: Reading

extension SortedNames {
  var start: Place { Place(chunk: 0, index: 0) }
  var end: Place { Place(chunk: chunks.count, index: 0) }

  /// Returns the place directly above the name, whether or not the name is present.
  func place(before name: ByteText) -> Place { place { $0 < name } }

  /// Returns the place directly below the name, whether or not the name is present.
  func place(after name: ByteText) -> Place { place { !(name < $0) } }

  private func place(_ isAbove: (ByteText) -> Bool) -> Place {
    let chunk = chunks.partition { isAbove($0[$0.count - 1]) }
    guard chunk < chunks.count else { return end }
    return Place(chunk: chunk, index: chunks[chunk].partition(isAbove))
  }

  /// Returns the place `count` names further down, or `limit` if that comes first.
  func place(_ count: Int, below place: Place, limit: Place) -> Place {
    var (chunk, index, rest) = (place.chunk, place.index, count)
    while chunk < limit.chunk, rest >= chunks[chunk].count - index {
      rest -= chunks[chunk].count - index
      (chunk, index) = (chunk + 1, 0)
    }
    return min(Place(chunk: chunk, index: index + rest), limit)
  }

  /// Returns the place `count` names further up, or `limit` if that comes first.
  func place(_ count: Int, above place: Place, limit: Place) -> Place {
    var (chunk, index, rest) = (place.chunk, place.index, count)
    while rest > index, chunk > limit.chunk {
      rest -= index
      chunk -= 1
      index = chunks[chunk].count
    }
    return max(Place(chunk: chunk, index: max(0, index - rest)), limit)
  }

  /// Returns the names between the two places.
  func names(from start: Place, to end: Place) -> [ByteText] {
    var names: [ByteText] = []
    var place = start
    while place < end {
      let last = place.chunk == end.chunk ? end.index : chunks[place.chunk].count
      names += chunks[place.chunk][place.index..<last]
      place = Place(chunk: place.chunk + 1, index: 0)
    }
    return names
  }
}

extension Array {
  /// Returns the number of elements at the front for which the predicate holds; it holds for none after
  /// them.
  fileprivate func partition(_ isAtFront: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isAtFront(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
