/// A request on its way over a link. Amounts are millionths of a bit, which a bit a second brings each
/// microsecond: all of them whole numbers.
struct LinkRequest: Sendable {
  static let unitsPerByte = 8_000_000
  /// How many bytes one request brings at the most: 64 GiB, so that no sum overflows.
  static let byteLimit = 1 << 36

  let id: Int
  /// The most urgent is the least.
  let priority: Int
  /// What its answer has before the body.
  let headUnits: Int
  /// Head and body.
  let totalUnits: Int
  /// The slot of the connection that carries it; `nil` while it waits for one.
  var connection: Int?
  /// When it went out, and when its answer begins.
  var sentAtMicroseconds = 0
  var answersAtMicroseconds = 0
  var isAnswered = false
  var receivedUnits = 0
  /// When something of it last came, or it was asked for.
  var movedAtMicroseconds: Int
  /// Somebody wants to know when its head is there, and does not yet.
  var tellsHead: Bool
  /// From how much on somebody wants to know.
  var markUnits = Int.max
  /// Bits a second in this step of the link.
  var rate = 0

  var nextUnits: Int { tellsHead ? headUnits : min(totalUnits, markUnits) }
  var bodyBytes: Int { max(0, receivedUnits - headUnits) / Self.unitsPerByte }
}

/// A connection of a link: a place that is or is not taken.
struct LinkConnection: Sendable {
  var isOpen = false
  var readyAtMicroseconds = 0
  var requestCount = 0
  var idleSinceMicroseconds = 0
  /// How much it sends in a round trip; without meaning where the link and not the window limits it.
  var windowUnits = 0
  /// How much of that is left, and when the round ends.
  var roundUnits = 0
  var roundEndsMicroseconds = 0
  /// What it sends in a round trip fills the link.
  var fillsLink = false
  /// The window doubles each round; else it grows by a packet.
  var isInSlowStart = true
  /// A packet is being sent again, and what follows waits for it.
  var stalledUntilMicroseconds = 0
  /// How much it sends until the next packet is lost.
  var unitsUntilLoss = Int.max
  /// How many of its requests are being answered, in this step of the link.
  var answering = 0
  /// To how many of them a share of its rate was given in this step.
  var placed = 0
  /// Bits a second in this step.
  var rate = 0
  /// What it has received in this step.
  var movedUnits = 0
}

/// What came over a link.
struct LinkEvent: Hashable, Sendable {
  let request: Int
  /// How many bytes of the body are there.
  let bytes: Int
  /// It is the end of the answer.
  let isFinished: Bool
  /// From the request to its answer's first byte.
  let firstByteMicroseconds: Int
  /// It is the head that is there, and nothing is said of the body.
  var isHead = false
  /// It was given up: nothing came for too long.
  var isTimedOut = false
}

/// What a cancelled request has under way: it comes, and is not kept.
struct LinkTail: Sendable {
  var units: Int
  /// Bits a second in this step of the link.
  var rate = 0
}
