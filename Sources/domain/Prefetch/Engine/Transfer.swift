import Feed

/// A transfer that runs or rests.
struct Transfer: Equatable, Codable {
  let id: Int
  let slot: Int
  /// The item that it was begun for.
  @ByBytes var item: String
  /// Where the list has that; `nil` where it has it no longer.
  var position: Int?
  /// The first byte that has not arrived.
  var next: Int
  /// Behind its last byte; `unknownEnd` where it goes to the file's end, wherever that is.
  var end: Int
  /// Up to where its bytes count as under way: it is stopped there, if it reaches further.
  var countedEnd: Int
  var isPaused = false
  /// Some of it has arrived.
  var hasBegun = false
  /// When it was begun, or went on; `nil` where that is not known.
  var askedAt: Int?

  static let unknownEnd = Int.max

  /// What has yet to arrive of it.
  var rest: Range<Int> { min(next, end)..<end }
  /// How many bytes of it count as under way.
  var bytesUnderWay: Int { isPaused ? 0 : max(0, min(end, countedEnd) - next) }
}

/// What is to be loaded, and how much of it: a strategy's word, before it is known what there is of it.
struct Want: Equatable {
  enum Amount: Equatable {
    /// What starts it.
    case start
    /// What shows it: of a clip its first frame.
    case head
    /// All of it.
    case entire
    /// What plays so long; at 0, its first frame.
    case milliseconds(Int)
    /// These bytes of one of its media.
    case bytes(media: Int, Range<Int>)
  }

  let position: Int
  let amount: Amount
  let reason: PrefetchReason
}

/// Bytes of a file that are wanted, there or not.
struct Wish: Equatable {
  let position: Int
  let media: Int
  let slot: Int
  /// Up to `Transfer.unknownEnd` where the file's end is wanted and not known.
  let range: Range<Int>
  /// Where that is, the end to count with.
  let countedEnd: Int
  let priority: PrefetchTransfer.Priority
  let reason: PrefetchReason
  /// A part of it is worth having.
  let isDivisible: Bool

  /// It is for the item that the person looks at.
  var isActive: Bool { priority != .ahead }
}
