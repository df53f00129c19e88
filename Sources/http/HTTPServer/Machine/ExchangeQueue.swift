import DequeModule
import HTTP

/// The exchanges of a connection in the order of their requests, which is that of the answers (RFC 9112
/// section 9.3.2). Each has a number that is never reused.
struct ExchangeQueue {
  private var items = ShortQueue<Exchange>()
  private(set) var firstNumber: UInt64 = 0
  /// The number of the newest exchange whose method may change something, until it has its answer.
  private var writeNumber: UInt64?
  /// The number of exchanges with an error whose text was not requested.
  private var refusedCount = 0
  /// Whether the oldest exchange has its answer, and if not, since when the application owes it. Kept here,
  /// since exchanges are large and each step looks at them.
  private(set) var isFirstReady = false
  private(set) var firstOwedSinceMilliseconds: UInt64?
  /// The memory that the answers hold which wait for their turn.
  private(set) var heldBytes = 0
  /// The number of these answers that hold a file open.
  private(set) var heldFiles = 0

  var count: Int { items.count }
  var isEmpty: Bool { items.isEmpty }
  var lastNumber: UInt64 { firstNumber &+ UInt64(items.count) &- 1 }

  /// Whether the newest exchange may still change something.
  var endsWithWrite: Bool { writeNumber != nil && writeNumber == lastNumber }

  mutating func append(_ exchange: consuming Exchange) -> UInt64 {
    let isUnsafe = exchange.isUnsafe
    items.append(exchange)
    if isUnsafe { writeNumber = lastNumber }
    return lastNumber
  }

  /// Notes that the application gets the newest exchange's request; returns its request id.
  mutating func handOver(_ answer: Exchange.Answer) -> String {
    if items.count == 1 { noteFirst(answer) }
    return items.withElement(at: items.count - 1) { exchange in
      exchange.answer = answer
      return exchange.request.requestID
    }
  }

  /// Notes that the newest exchange's body is complete.
  mutating func bodyCompleted(nowMilliseconds: UInt64) {
    let answer = Exchange.Answer.owed(sinceMilliseconds: nowMilliseconds)
    if items.count == 1 { noteFirst(answer) }
    items.withElement(at: items.count - 1) { $0.answer = answer }
  }

  /// Ends the connection after the newest exchange.
  mutating func endAfterLast() {
    items.withElement(at: items.count - 1) { $0.keepsAlive = false }
  }

  /// Sets the application's answer, if it owes one; returns whether it did.
  mutating func answer(_ number: UInt64, _ response: consuming Response) -> Bool {
    guard let index = index(number) else { return false }
    let isOwed = items.withElement(at: index) { $0.answer.isApplications }
    if isOwed { setReady(index, response) }
    return isOwed
  }

  /// Whether it is the oldest exchange, the application owes its answer, and its client knows interim
  /// answers.
  mutating func takesInterim(_ number: UInt64) -> Bool {
    guard number == firstNumber, !items.isEmpty else { return false }
    return items.withElement(at: 0) { $0.answer.isApplications && !$0.isOfOldVersion }
  }

  /// Refuses an exchange with an error, after which the connection ends; false if it has its answer.
  mutating func refuse(_ number: UInt64, _ error: ProtocolError) -> Bool {
    guard let index = index(number) else { return false }
    let isRefused = items.withElement(at: index) { exchange in
      switch exchange.answer {
      case .unasked, .streaming, .owed: break
      case .refused, .explained, .ready: return false
      }
      exchange.keepsAlive = false
      exchange.answer = .refused(error)
      return true
    }
    if isRefused {
      refusedCount += 1
      if index == 0 { noteFirst(.explained) }
    }
    return isRefused
  }

  /// Takes the oldest error whose text is to be requested.
  mutating func takeRefusal() -> (error: ProtocolError, number: UInt64, requestID: String)? {
    guard refusedCount > 0 else { return nil }
    for index in 0..<items.count {
      let refusal = items.withElement(at: index) { exchange in
        exchange.takeRefusal().map { ($0, exchange.request.requestID) }
      }
      guard let (error, requestID) = refusal else { continue }
      refusedCount -= 1
      return (error, firstNumber + UInt64(index), requestID)
    }
    return nil
  }

  /// Sets the answer of an exchange that was refused.
  mutating func explained(_ number: UInt64, _ response: consuming Response) {
    guard let index = index(number) else { return }
    let isAsked = items.withElement(at: index) { $0.answer.isExplained }
    if isAsked { setReady(index, response) }
  }

  /// Takes the oldest exchange if it has its answer.
  mutating func popFirstReady() -> Exchange? {
    guard isFirstReady else { return nil }
    // Read in place, and returned without a variable: an exchange is large.
    let held = items.withElement(at: 0) { (bytes: $0.heldBytes, isFile: $0.holdsFile) }
    heldBytes -= held.bytes
    if held.isFile { heldFiles -= 1 }
    firstNumber += 1
    assert(heldBytes >= 0 && heldFiles >= 0, "answers held less than was counted")
    assert(
      items.count > 1 || (heldBytes == 0 && heldFiles == 0), "no answer waits, and some is held")
    noteFirst(items.count > 1 ? items.withElement(at: 1) { $0.answer } : .unasked)
    return items.popFirst()
  }

  mutating func removeAll() {
    firstNumber += UInt64(items.count)
    items.removeAll()
    noteFirst(.unasked)
    writeNumber = nil
    refusedCount = 0
    heldBytes = 0
    heldFiles = 0
  }

  /// Notes the state of the oldest exchange's answer.
  private mutating func noteFirst(_ answer: Exchange.Answer) {
    isFirstReady = answer.isReady
    firstOwedSinceMilliseconds = if case .owed(let since) = answer { since } else { nil }
  }

  private mutating func setReady(_ index: Int, _ response: consuming Response) {
    let (bytes, holdsFile) = (response.heldBytes, response.holdsFile)
    heldBytes += bytes
    if holdsFile { heldFiles += 1 }
    if writeNumber == firstNumber + UInt64(index) { writeNumber = nil }
    if index == 0 {
      isFirstReady = true
      firstOwedSinceMilliseconds = nil
    }
    items.withElement(at: index) { exchange in
      (exchange.heldBytes, exchange.holdsFile) = (bytes, holdsFile)
      exchange.answer = .ready
      exchange.response = response
    }
  }

  private func index(_ number: UInt64) -> Int? {
    guard number >= firstNumber, number - firstNumber < UInt64(items.count) else { return nil }
    return Int(number - firstNumber)
  }
}

/// A queue whose first element is stored in place and changed in place: most queues of a connection have at
/// most one element, and then no memory of their own.
struct ShortQueue<Element> {
  private(set) var count = 0
  private(set) var first: Element?
  private var others: Deque<Element> = []

  var isEmpty: Bool { count == 0 }

  mutating func append(_ element: consuming Element) {
    if count == 0 { first = element } else { others.append(element) }
    count += 1
  }

  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    count -= 1
    guard count > 0 else { return first.take() }
    defer {
      first = others.removeFirst()
      if count == 1 { others = [] }
    }
    return first
  }

  mutating func removeAll() {
    count = 0
    first = nil
    others = []
  }

  /// Reads or changes the element at an index that exists, without a copy.
  mutating func withElement<Result>(
    at index: Int, _ body: (inout Element) -> Result
  ) -> Result {
    index == 0 ? body(&first!) : body(&others[index - 1])
  }
}
