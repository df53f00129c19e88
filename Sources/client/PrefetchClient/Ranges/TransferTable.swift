/// A request for bytes of a file, in flight or about to start. It has a reader until all of its bytes are
/// there.
package struct Transfer {
  package let id: Int
  package let url: String
  /// The offset of the next byte.
  package var position: Int
  /// The end of the wanted bytes. Another transfer may have taken over the rest.
  package var end: Int
  /// The priority: of several waiting transfers, the one with the greatest starts first.
  package var priority: RangePriority
  /// The numbers of the readings that want it.
  package var readings: Set<Int>
}

/// The urgency of bytes.
public enum RangePriority: Int, Comparable, Sendable {
  /// Bytes ahead of the person.
  case ahead
  /// The rest of the item that the person looks at.
  case active
  /// Bytes that the person, or a player, waits for.
  case urgent

  /// Whether the left one is less urgent.
  public static func < (left: RangePriority, right: RangePriority) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// The transfers in flight. Pure. No two of them bring the same byte of a file.
package struct TransferTable {
  package private(set) var transfers: [Int: Transfer] = [:]
  private var lastID = 0

  /// Creates an empty table.
  package init() {}

  package subscript(id: Int) -> Transfer? { transfers[id] }

  /// Makes the reading wait for the byte at `position`, which is absent: it joins the transfer that brings
  /// the byte soon, or gets a new one.
  ///
  /// - Parameters:
  ///   - end: the end of the wanted bytes, or the first byte that is there already.
  ///   - joinBytes: the maximum number of bytes that a transfer may bring before that byte.
  /// - Returns: the new transfer, which the caller starts; nil if the reading joined one.
  package mutating func want(
    _ position: Int, to end: Int, of url: String, by reading: Int, priority: RangePriority,
    joinBytes: Int
  ) -> Transfer? {
    var end = end
    for other in transfers.values where other.url == url {
      if other.position > position {
        end = min(end, other.position)
      } else if other.end > position {
        if position - other.position <= joinBytes {
          transfers[other.id]?.readings.insert(reading)
          transfers[other.id]?.priority = max(other.priority, priority)
          return nil
        }
        transfers[other.id]?.end = position
      }
    }
    lastID += 1
    let transfer = Transfer(
      id: lastID, url: url, position: position, end: end, priority: priority, readings: [reading])
    transfers[lastID] = transfer
    return transfer
  }

  /// Notes that bytes up to this position arrived.
  ///
  /// - Returns: whether the transfer brings more.
  package mutating func advance(_ id: Int, to position: Int) -> Bool {
    guard let transfer = transfers[id] else { return false }
    transfers[id]?.position = max(transfer.position, position)
    return max(transfer.position, position) < transfer.end
  }

  /// Removes a transfer that has ended.
  package mutating func remove(_ id: Int) { transfers[id] = nil }

  /// Removes the reading.
  ///
  /// - Parameter isWhole: whether all bytes of a transfer are there. Then its answer ends by itself, and its
  ///   connection can be reused.
  /// - Returns: the other transfers that no reader wants now; they are removed from the table.
  package mutating func leave(
    _ reading: Int, isWhole: (Transfer) -> Bool = { $0.position >= $0.end }
  ) -> [Transfer] {
    var left: [Transfer] = []
    for transfer in transfers.values where transfer.readings.contains(reading) {
      transfers[transfer.id]?.readings.remove(reading)
      if transfer.readings.count == 1, !isWhole(transfer) {
        transfers[transfer.id] = nil
        left.append(transfer)
      }
    }
    return left
  }
}
