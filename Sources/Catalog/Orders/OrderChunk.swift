import Feed

/// A run of an order's entries, a few hundred, that never changes: orders share it.
///
/// An entry has 32 bytes and its id's own, however long that is: a `String` of more than fifteen bytes
/// would be an allocation for each.
final class OrderChunk: Sendable {
  /// An entry, but for its id's bytes.
  struct Entry {
    let key: Int64
    let post: Int64
    /// Microseconds since 1970; the least number where the time is unknown.
    let time: Int64
    /// Where the id lies in `ids`.
    let idStart: UInt32
    let idCount: UInt32

    var idRange: Range<Int> { Int(idStart)..<Int(idStart) + Int(idCount) }

    /// The entry in other bytes, where what began at `start` begins at `other`.
    func moved(from start: UInt32, to other: UInt32) -> Entry {
      Entry(key: key, post: post, time: time, idStart: idStart - start + other, idCount: idCount)
    }
  }

  /// From the top down; never empty.
  let entries: [Entry]
  /// The ids of all entries, one behind the other in the order of the entries.
  let ids: [UInt8]
  /// The newest time of any entry, as `Entry.time`.
  let newest: Int64

  /// What stands for an unknown time: before every time that there is.
  static let unknownTime = Int64.min

  init(_ entries: [Entry], ids: [UInt8]) {
    self.entries = entries
    self.ids = ids
    newest = entries.reduce(Self.unknownTime) { max($0, $1.time) }
  }

  var count: Int { entries.count }

  /// The key of the last entry.
  var lastKey: Int64 { entries[entries.count - 1].key }

  subscript(index: Int) -> OrderEntry {
    let entry = entries[index]
    return OrderEntry(
      position: position(at: index), post: entry.post,
      publishedAt: entry.time == Self.unknownTime ? nil : Timestamp(microseconds: entry.time))
  }

  func position(at index: Int) -> Position {
    let entry = entries[index]
    return Position(
      key: SortKey(rawValue: entry.key), id: String(decoding: ids[entry.idRange], as: UTF8.self))
  }

  /// Less than zero where the entry at the index stands above the position, 0 where it is there.
  func order(at index: Int, comparedTo position: Position) -> Int {
    let entry = entries[index]
    if entry.key != position.key.rawValue { return entry.key < position.key.rawValue ? -1 : 1 }
    return ids.withUnsafeBufferPointer {
      $0[entry.idRange].order(comparedTo: position.id.utf8)
    }
  }

  /// The entry at the index, if there is one, stands at the position.
  func isEntry(at index: Int, _ position: Position) -> Bool {
    index < count && order(at: index, comparedTo: position) == 0
  }

  /// How many entries stand above the position.
  func lowerBound(of position: Position) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if order(at: middle, comparedTo: position) < 0 { low = middle + 1 } else { high = middle }
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
