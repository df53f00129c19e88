import Feed

/// An immutable run of a few hundred entries of an order, which orders share.
///
/// An entry takes 32 bytes plus the bytes of its id, whatever its length: a `String` of more than fifteen
/// bytes would be an allocation per entry. Entries are stored in columns: a chunk that was not used
/// recently is in no cache, and a search waits for each cache line that it touches.
final class OrderChunk: Sendable {
  /// An entry without its id's bytes, from which chunks are made.
  struct Entry {
    let key: Int64
    let post: Int64
    /// Microseconds since 1970; `unknownTime` if the time is unknown.
    let time: Int64
    /// The start of the id in `ids`.
    let idStart: UInt32
    let idCount: UInt32

    /// The end of the id in `ids`.
    var idEnd: Int { Int(idStart) + Int(idCount) }

    /// Returns the entry for another buffer of ids, with the offset `start` moved to `other`.
    func moved(from start: UInt32, to other: UInt32) -> Entry {
      Entry(key: key, post: post, time: time, idStart: idStart - start + other, idCount: idCount)
    }
  }

  /// The fields of an entry that searches and pages do not read for every entry.
  private struct Detail {
    let time: Int64
    let idStart: UInt32
    let idCount: UInt32

    var idRange: Range<Int> { Int(idStart)..<Int(idStart) + Int(idCount) }
  }

  /// The keys of all entries, from the top down; never empty.
  private let keys: [Int64]
  /// The last key of each group of `groupCount` entries; the last group may be smaller.
  private let groupKeys: [Int64]
  private static let groupCount = 16
  /// The numbers of the entries' posts.
  let posts: [Int64]
  private let details: [Detail]
  /// The ids of all entries, concatenated in the order of the entries.
  let ids: [UInt8]
  /// The newest time of any entry, as `Entry.time`.
  let newest: Int64

  /// The value for an unknown time: before every known time.
  static let unknownTime = Int64.min

  init(_ entries: [Entry], ids: [UInt8]) {
    assert(!entries.isEmpty && entries.allSatisfy { $0.idEnd <= ids.count }, "an id is not there")
    keys = entries.map(\.key)
    groupKeys = stride(from: 0, to: entries.count, by: Self.groupCount).map {
      entries[min($0 + Self.groupCount, entries.count) - 1].key
    }
    posts = entries.map(\.post)
    details = entries.map { Detail(time: $0.time, idStart: $0.idStart, idCount: $0.idCount) }
    self.ids = ids
    newest = entries.reduce(Self.unknownTime) { max($0, $1.time) }
  }

  var count: Int { keys.count }

  /// The approximate memory, in bytes: the columns, and the headers of five arrays and of the chunk, as the
  /// allocator rounds them.
  var heldBytes: Int { keys.count * 32 + groupKeys.count * 8 + ids.count + 340 }

  /// The key of the last entry.
  var lastKey: Int64 { keys[keys.count - 1] }

  /// Returns the entry at the index as it was passed to `init`.
  func entry(at index: Int) -> Entry {
    let detail = details[index]
    return Entry(
      key: keys[index], post: posts[index], time: detail.time, idStart: detail.idStart,
      idCount: detail.idCount)
  }

  subscript(index: Int) -> OrderEntry {
    let time = details[index].time
    return OrderEntry(
      position: position(at: index), post: posts[index],
      publishedAt: time == Self.unknownTime ? nil : Timestamp(microseconds: time))
  }

  func position(at index: Int) -> Position {
    Position(
      key: SortKey(rawValue: keys[index]),
      id: String(decoding: ids[details[index].idRange], as: UTF8.self))
  }

  /// Returns a negative number if the entry at the index is above the position, 0 if it is at it.
  func order(at index: Int, comparedTo position: Position) -> Int {
    let (key, other) = (keys[index], position.key.rawValue)
    if key != other { return key < other ? -1 : 1 }
    return ids.withUnsafeBufferPointer {
      $0[details[index].idRange].order(comparedTo: position.id.utf8)
    }
  }

  /// Whether an entry exists at the index and is at the position.
  func isEntry(at index: Int, _ position: Position) -> Bool {
    index < count && order(at: index, comparedTo: position) == 0
  }

  /// Returns the number of entries above the position.
  func lowerBound(of position: Position) -> Int {
    let key = position.key.rawValue
    let group = groupKeys.partition(0..<groupKeys.count) { $0 < key }
    guard group < groupKeys.count else { return count }
    let start = group * Self.groupCount
    let first = keys.partition(start..<min(start + Self.groupCount, count)) { $0 < key }
    // Ids decide only between equal keys, and usually only one entry has the key.
    guard order(at: first, comparedTo: position) < 0 else { return first }
    var (low, high) = (first + 1, count)
    while low < high {
      let middle = (low + high) / 2
      if order(at: middle, comparedTo: position) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension [Int64] {
  /// Returns the first index in the range for which the predicate does not hold; it holds for all before
  /// it.
  @inline(__always)
  fileprivate func partition(_ range: Range<Int>, _ isBefore: (Int64) -> Bool) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Collection<UInt8> {
  /// Returns a negative number if these bytes come before the others, 0 if they are equal.
  fileprivate func order(comparedTo others: String.UTF8View) -> Int {
    var rest = others.makeIterator()
    for byte in self {
      guard let other = rest.next() else { return 1 }
      if byte != other { return byte < other ? -1 : 1 }
    }
    return rest.next() == nil ? 0 : -1
  }
}
