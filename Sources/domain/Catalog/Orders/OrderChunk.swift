import Feed

/// A run of an order's entries, a few hundred, that never changes: orders share it.
///
/// An entry has 32 bytes and the bytes of its id, however long that is: a `String` of more than fifteen
/// bytes would be an allocation for each. Entries are stored in columns: a chunk that was not used lately is
/// in no cache, and a search waits for each line of memory that it touches.
final class OrderChunk: Sendable {
  /// An entry, but for its id's bytes: what chunks are made of.
  struct Entry {
    let key: Int64
    let post: Int64
    /// Microseconds since 1970; the least number where the time is unknown.
    let time: Int64
    /// Where the id lies in `ids`.
    let idStart: UInt32
    let idCount: UInt32

    /// Where the id ends in `ids`.
    var idEnd: Int { Int(idStart) + Int(idCount) }

    /// The entry in other bytes, where what began at `start` begins at `other`.
    func moved(from start: UInt32, to other: UInt32) -> Entry {
      Entry(key: key, post: post, time: time, idStart: idStart - start + other, idCount: idCount)
    }
  }

  /// What of an entry neither a search nor a page looks at in each.
  private struct Detail {
    let time: Int64
    let idStart: UInt32
    let idCount: UInt32

    var idRange: Range<Int> { Int(idStart)..<Int(idStart) + Int(idCount) }
  }

  /// The keys of all entries, from the top down; never empty.
  private let keys: [Int64]
  /// The keys of the last entries of groups, each of `groupCount` entries but the last group.
  private let groupKeys: [Int64]
  private static let groupCount = 16
  /// The numbers of the entries' posts.
  let posts: [Int64]
  private let details: [Detail]
  /// The ids of all entries, one behind the other in the order of the entries.
  let ids: [UInt8]
  /// The newest time of any entry, as `Entry.time`.
  let newest: Int64

  /// What stands for an unknown time: before every time that there is.
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

  /// About what it takes in memory: the columns, and the heads of five arrays and of the chunk, as the system
  /// rounds them.
  var heldBytes: Int { keys.count * 32 + groupKeys.count * 8 + ids.count + 340 }

  /// The key of the last entry.
  var lastKey: Int64 { keys[keys.count - 1] }

  /// The entry at the index as it was given.
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

  /// Less than zero where the entry at the index stands above the position, 0 where it is there.
  func order(at index: Int, comparedTo position: Position) -> Int {
    let (key, other) = (keys[index], position.key.rawValue)
    if key != other { return key < other ? -1 : 1 }
    return ids.withUnsafeBufferPointer {
      $0[details[index].idRange].order(comparedTo: position.id.utf8)
    }
  }

  /// The entry at the index, if there is one, stands at the position.
  func isEntry(at index: Int, _ position: Position) -> Bool {
    index < count && order(at: index, comparedTo: position) == 0
  }

  /// How many entries stand above the position.
  func lowerBound(of position: Position) -> Int {
    let key = position.key.rawValue
    let group = groupKeys.partition(0..<groupKeys.count) { $0 < key }
    guard group < groupKeys.count else { return count }
    let start = group * Self.groupCount
    let first = keys.partition(start..<min(start + Self.groupCount, count)) { $0 < key }
    // Only between equal keys the ids decide, and mostly there is but one.
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
  /// Where in the range the elements begin of which this does not hold; it holds of those before them.
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
  /// Less than zero where these bytes come before the others, 0 where they are the same.
  fileprivate func order(comparedTo others: String.UTF8View) -> Int {
    var rest = others.makeIterator()
    for byte in self {
      guard let other = rest.next() else { return 1 }
      if byte != other { return byte < other ? -1 : 1 }
    }
    return rest.next() == nil ? 0 : -1
  }
}
