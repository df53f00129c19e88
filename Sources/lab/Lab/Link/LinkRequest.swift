/// A request on its way over a link. Amounts are in millionths of a bit: a rate of one bit a second brings
/// one each microsecond, so all amounts are integers.
struct LinkRequest: Sendable {
  static let unitsPerByte = 8_000_000
  /// The maximum number of bytes of one request: 64 GiB, so that no sum overflows.
  static let byteLimit = 1 << 36

  let id: Int
  /// The priority: the least is the most urgent.
  let priority: Int
  /// The size of the answer's head.
  let headUnits: Int
  /// The size of head and body.
  let totalUnits: Int
  /// The slot of its connection; `nil` while it waits for one.
  var connection: Int?
  /// The time at which it is sent, and the time at which its answer begins.
  var sentAtMicroseconds = 0
  var answersAtMicroseconds = 0
  var isAnswered = false
  var receivedUnits = 0
  /// The time at which bytes last arrived, or at which it was started.
  var movedAtMicroseconds: Int
  /// Whether the arrival of its head is still to be an event.
  var tellsHead: Bool
  /// The amount whose arrival is an event.
  var markUnits = Int.max
  /// Bits a second in this step of the link.
  var rate = 0

  var nextUnits: Int { tellsHead ? headUnits : min(totalUnits, markUnits) }
  var bodyBytes: Int { max(0, receivedUnits - headUnits) / Self.unitsPerByte }
}

/// A slot for a connection of a link.
struct LinkConnection: Sendable {
  var isOpen = false
  var readyAtMicroseconds = 0
  var requestCount = 0
  var idleSinceMicroseconds = 0
  /// The amount that it sends in a round trip; meaningless if the link limits it, not the window.
  var windowUnits = 0
  /// The remaining amount of the round, and the end of the round.
  var roundUnits = 0
  var roundEndsMicroseconds = 0
  /// Whether what it sends in a round trip fills the link.
  var fillsLink = false
  /// Whether the window doubles each round; otherwise it grows by a packet.
  var isInSlowStart = true
  /// The time until which a packet is sent again, and what follows waits for it.
  var stalledUntilMicroseconds = 0
  /// The amount that it sends until the next packet is lost.
  var unitsUntilLoss = Int.max
  /// The number of its requests that receive an answer in this step of the link.
  var answering = 0
  /// The number of these that have a share of its rate in this step.
  var placed = 0
  /// Bits a second in this step.
  var rate = 0
  /// The amount received in this step.
  var movedUnits = 0
}

/// An event of a link.
struct LinkEvent: Hashable, Sendable {
  let request: Int
  /// The number of bytes of the body that have arrived.
  let bytes: Int
  /// Whether the answer is complete.
  let isFinished: Bool
  /// The time from the request to its answer's first byte.
  let firstByteMicroseconds: Int
  /// Whether it is the arrival of the head, without information about the body.
  var isHead = false
  /// Whether the request timed out: nothing arrived for too long.
  var isTimedOut = false
}

/// The bytes in flight of a cancelled request: they arrive, and are not kept.
struct LinkTail: Sendable {
  var units: Int
  /// Bits a second in this step of the link.
  var rate = 0
}
