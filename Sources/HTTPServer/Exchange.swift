import HTTP
import System

/// A request that came and the answer that it waits for.
struct Exchange {
  let requestID: String
  /// Whether the answer goes without its body.
  let isHead: Bool
  /// Whether an HTTP/1.0 client asked to keep the connection, which the answer then confirms.
  let keepsOldVersion: Bool
  /// Whether its method may change something: what was sent behind it waits for its answer, which it
  /// may depend on (RFC 9112 section 9.3.2).
  var isUnsafe = false
  /// Whether the connection goes on after the answer.
  var keepsAlive: Bool
  /// Whether the client waits for `100 Continue` and has not got it.
  var needsContinue = false
  /// When the application got the request, in milliseconds of the loop's clock.
  var handedOverMilliseconds: UInt64 = 0
  var response: Response?
  /// For the log and the figures: what was asked for, and when its head was complete.
  var method: Method?
  var target: [UInt8] = []
  var pathEnd = 0
  var startNanoseconds: UInt64 = 0
  var forwardedFor: String?
}

extension Exchange {
  /// The exchange of a request whose head is complete; `isObserved` where somebody wants to hear what
  /// was asked for.
  init(
    of request: Request, requestID: String, isObserved: Bool
  ) {
    self.init(
      requestID: requestID, isHead: request.method == .head,
      keepsOldVersion: request.minorVersion == 0, isUnsafe: !request.method.isSafe,
      keepsAlive: request.keepsAlive)
    guard isObserved else { return }
    method = request.method
    target = request.target
    pathEnd = request.pathBytes.endIndex
    startNanoseconds = MonotonicClock.nanoseconds
    forwardedFor = request.fields.combined("X-Forwarded-For")
  }
}

/// The exchanges of a connection in the order of their requests, which is that of the answers
/// (RFC 9112 section 9.3.2). Each has a number that is never used again.
struct ExchangeQueue {
  private var items: [Exchange] = []
  private var start = 0
  private var firstNumber: UInt64 = 0
  /// How much memory the answers hold that wait for their turn.
  private(set) var heldBytes = 0
  /// How many of these answers hold a file open.
  private(set) var heldFiles = 0

  var count: Int { items.count - start }
  var isEmpty: Bool { start == items.count }

  /// Whether the oldest one has its answer.
  var isFirstAnswered: Bool { !isEmpty && items[start].response != nil }

  /// Whether the client of the oldest one waits for `100 Continue`; from now on it does not.
  mutating func takeNeedOfContinue() -> Bool {
    guard !isEmpty, items[start].needsContinue else { return false }
    items[start].needsContinue = false
    return true
  }

  /// When the application got the oldest one.
  var firstHandedOverMilliseconds: UInt64? {
    isEmpty ? nil : items[start].handedOverMilliseconds
  }

  /// Whether the newest one may still change something.
  var endsWithWrite: Bool {
    guard let last = items.indices.last, last >= start else { return false }
    return items[last].isUnsafe && items[last].response == nil
  }

  var firstExchangeNumber: UInt64 { firstNumber }
  var lastExchangeNumber: UInt64 { firstNumber + UInt64(count) - 1 }

  mutating func append(_ exchange: Exchange) -> UInt64 {
    items.append(exchange)
    return lastExchangeNumber
  }

  /// The exchange of that number, while it waits.
  subscript(number: UInt64) -> Exchange? {
    index(number).map { items[$0] }
  }

  /// Changes the exchange of that number, if it still waits; says whether it does.
  @discardableResult
  mutating func update(_ number: UInt64, _ change: (inout Exchange) -> Void) -> Bool {
    guard let index = index(number) else { return false }
    change(&items[index])
    return true
  }

  /// Gives the exchange its answer, if it waits for one; says whether it did.
  mutating func answer(_ number: UInt64, _ response: Response) -> Bool {
    guard let index = index(number), items[index].response == nil else { return false }
    items[index].response = response
    heldBytes += response.heldBytes
    if response.holdsFile { heldFiles += 1 }
    return true
  }

  /// Takes the oldest one if it has its answer.
  mutating func popFirstAnswered() -> (Exchange, Response)? {
    guard !isEmpty, let response = items[start].response.take() else { return nil }
    heldBytes -= response.heldBytes
    if response.holdsFile { heldFiles -= 1 }
    firstNumber += 1
    if count == 1 {
      let exchange = items.removeLast()
      // An idle connection holds next to no memory for them.
      items.removeAll(keepingCapacity: start == 0 && items.capacity <= 2)
      start = 0
      return (exchange, response)
    }
    let exchange = items[start]
    start += 1
    if start >= 64 {
      items.removeFirst(start)
      start = 0
    }
    return (exchange, response)
  }

  mutating func removeAll() {
    firstNumber += UInt64(count)
    items = []
    start = 0
    heldBytes = 0
    heldFiles = 0
  }

  private func index(_ number: UInt64) -> Int? {
    guard number >= firstNumber, number - firstNumber < UInt64(count) else { return nil }
    return start + Int(number - firstNumber)
  }
}
