/// A request for bytes of a file, under way or about to be: it has a reader until all of its bytes are there.
package struct Transfer {
  package let id: Int
  package let url: String
  /// The byte that comes next.
  package var position: Int
  /// Behind the last one that is wanted; another transfer may have taken over the rest.
  package var end: Int
  /// Of several that wait, the greatest goes first.
  package var priority: RangePriority
  /// Who wants it: readings by their numbers.
  package var readings: Set<Int>
}

/// How urgent bytes are.
public enum RangePriority: Int, Comparable, Sendable {
  /// Ahead of the person.
  case ahead
  /// The rest of what the person looks at.
  case active
  /// The person, or a player, waits for it.
  case urgent

  /// Whether the left one is less urgent.
  public static func < (left: RangePriority, right: RangePriority) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// The transfers under way: pure. No two of them bring the same byte of a file.
package struct TransferTable {
  package private(set) var transfers: [Int: Transfer] = [:]
  private var lastID = 0

  /// None is under way.
  package init() {}

  package subscript(id: Int) -> Transfer? { transfers[id] }

  /// Has the reading wait for the byte at `position`, which is not there: it joins the transfer that brings it
  /// soon, or is given a new one.
  ///
  /// - Parameters:
  ///   - end: no byte from there on is wanted, or the first one that is there already.
  ///   - joinBytes: the most that a transfer may have to bring before that byte.
  /// - Returns: the new transfer, which is to be begun.
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

  /// Bytes up to there have come.
  ///
  /// - Returns: whether it brings more.
  package mutating func advance(_ id: Int, to position: Int) -> Bool {
    guard let transfer = transfers[id] else { return false }
    transfers[id]?.position = max(transfer.position, position)
    return max(transfer.position, position) < transfer.end
  }

  /// The transfer is no longer under way.
  package mutating func remove(_ id: Int) { transfers[id] = nil }

  /// The reading wants nothing any more.
  ///
  /// - Parameter isWhole: whether all bytes of a transfer are there: its answer ends by itself, and with that its
  ///   connection is good for another request.
  /// - Returns: the others that no reader wants now; they are no longer in the table.
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
