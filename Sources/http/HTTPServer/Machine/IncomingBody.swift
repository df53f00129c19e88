import HTTP

/// A request whose body is on its way.
struct IncomingBody {
  enum Use {
    /// Discarded: the application does not want it.
    case discarded
    /// Collected into the request, which the application gets when it is complete.
    case collected
    /// The application has the request and takes the body as it comes.
    case streamed
  }

  private(set) var request: Request
  let use: Use
  /// Whether the client sends nothing before it is told to (`100 Continue`), and it has not been.
  private(set) var awaitsContinue: Bool
  /// Whether its reader has to make room before more is read.
  private(set) var isPaused = false
  /// Whether the rest of it is not waited for any more.
  private(set) var isGivenUp = false
  private var startMilliseconds: UInt64
  /// When something of it last came, or room was made.
  private(set) var lastMilliseconds: UInt64
  /// How long the application and not the client was waited for.
  private var excusedMilliseconds: UInt64 = 0
  private var byteCount = 0
  /// Bytes for the stream that were parsed in this go: they are passed on together, since a body may
  /// come in chunks of one byte.
  private var gathered: [UInt8] = []

  init(of request: Request, _ use: Use, awaitsContinue: Bool, nowMilliseconds: UInt64) {
    self.request = request
    self.use = use
    self.awaitsContinue = awaitsContinue
    startMilliseconds = nowMilliseconds
    lastMilliseconds = nowMilliseconds
  }

  /// Takes in the bytes of `range`.
  mutating func take(_ bytes: Span<UInt8>, _ range: Range<Int>, _ around: inout Surroundings) {
    byteCount += range.count
    lastMilliseconds = around.nowMilliseconds
    // A client that sends has not waited to be told.
    awaitsContinue = false
    switch use {
    case .discarded: break
    case .collected:
      if case .length(let length) = request.framing, request.body.isEmpty {
        // The length is only a claim: memory is taken as bytes come, but not byte by byte.
        request.body.reserveCapacity(min(length, 4 * around.configuration.readBufferBytes))
      }
      bytes.append(range, to: &request.body)
    case .streamed:
      bytes.append(range, to: &gathered)
    }
  }

  /// The bytes that are to be passed on.
  mutating func takeGathered() -> [UInt8] {
    defer { gathered = [] }
    return gathered
  }

  /// The client was told to go on, and has its whole time from now.
  mutating func toldToContinue(nowMilliseconds: UInt64) {
    awaitsContinue = false
    startMilliseconds = nowMilliseconds
    lastMilliseconds = nowMilliseconds
  }

  /// What waits to be taken is enough.
  mutating func pause() { isPaused = true }

  /// Something of it was taken; the client is not blamed for the time that this took.
  mutating func resume(nowMilliseconds: UInt64) {
    guard isPaused else { return }
    isPaused = false
    excusedMilliseconds += nowMilliseconds - lastMilliseconds
    lastMilliseconds = nowMilliseconds
  }

  /// The rest is not waited for.
  mutating func giveUp() { isGivenUp = true }

  /// The request with its body.
  consuming func complete(trailers: Fields) -> Request {
    request.trailers = trailers
    return request
  }

  /// When it is too late: a body must not pause for too long, and must come at a minimum rate on the
  /// whole; an unwanted one must be over soon.
  func deadlineMilliseconds(_ around: inout Surroundings) -> UInt64 {
    let timeout = UInt64(around.configuration.bodyReadTimeoutMilliseconds)
    // Beyond 2^53 bytes the product would overflow.
    let earned =
      UInt64(min(byteCount, 1 << 53)) * 1000
      / UInt64(max(1, around.configuration.minimumBodyBytesPerSecond))
    let needed = min(
      lastMilliseconds + timeout, startMilliseconds + excusedMilliseconds + timeout + earned)
    guard use == .discarded else { return needed }
    let patience = UInt64(around.configuration.discardedBodyTimeoutMilliseconds)
    return min(needed, startMilliseconds + patience)
  }
}

extension Span where Element == UInt8 {
  /// Appends the bytes of `range`.
  fileprivate func append(_ range: Range<Int>, to bytes: inout [UInt8]) {
    // The buffer does not leave the closure: the array copies it.
    extracting(range).withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
  }
}
