import Feed

/// A running or paused transfer.
struct Transfer: Equatable, Codable {
  let id: Int
  let slot: Int
  /// The item that the transfer is for.
  @ByBytes var item: String
  /// The item's position in the list; `nil` if it has left the list.
  var position: Int?
  /// The first byte that has not arrived.
  var next: Int
  /// The offset behind the last byte; `unknownEnd` for a file's end that is unknown.
  var end: Int
  /// The end of the bytes that count as in transfer: a transfer that reaches further is stopped there.
  var countedEnd: Int
  var isPaused = false
  /// Whether some of it has arrived.
  var hasBegun = false
  /// The time at which it was begun or resumed; `nil` if unknown.
  var askedAt: Int?

  static let unknownEnd = Int.max

  /// The bytes that have yet to arrive.
  var rest: Range<Int> { min(next, end)..<end }
  /// The number of its bytes that count as in transfer.
  var bytesUnderWay: Int { isPaused ? 0 : max(0, min(end, countedEnd) - next) }
}

/// An item to load, and how much of it: a strategy's request, before it is known what is held.
struct Want: Equatable {
  enum Amount: Equatable {
    /// The bytes that start it.
    case start
    /// The bytes that show it: of a clip, its first frame.
    case head
    /// All bytes.
    case entire
    /// The bytes that play for this time; at 0, the first frame.
    case milliseconds(Int)
    /// These bytes of one of its media.
    case bytes(media: Int, Range<Int>)
  }

  let position: Int
  let amount: Amount
  let reason: PrefetchReason
}

/// Wanted bytes of a file, held or not.
struct Wish: Equatable {
  let position: Int
  let media: Int
  let slot: Int
  /// The range; it ends at `Transfer.unknownEnd` if the file's end is wanted and unknown.
  let range: Range<Int>
  /// The end to count with, where the range's end is unknown.
  let countedEnd: Int
  let priority: PrefetchTransfer.Priority
  let reason: PrefetchReason
  /// Whether a part of the range is useful.
  let isDivisible: Bool

  /// Whether the wish is for the item that the person looks at.
  var isActive: Bool { priority != .ahead }
}
