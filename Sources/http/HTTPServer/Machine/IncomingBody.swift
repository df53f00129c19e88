import HTTP

/// A request whose body is on its way.
struct IncomingBody {
  enum Use {
    /// Discarded: the application does not want it.
    case discarded
    /// Collected into the request, which the application gets when it is complete.
    case collected
    /// Streamed: the application has the request and reads the body as it arrives.
    case streamed
  }

  private(set) var request: Request
  let use: Use
  /// Whether the client sends nothing before `100 Continue`, which it was not sent.
  private(set) var awaitsContinue: Bool
  /// Whether its reader has to make room before more is read.
  private(set) var isPaused = false
  /// Whether the rest of it is no longer awaited.
  private(set) var isGivenUp = false
  private var startMilliseconds: UInt64
  /// When something of it last arrived, or room was made.
  private(set) var lastMilliseconds: UInt64
  /// The time spent waiting for the application instead of the client.
  private var excusedMilliseconds: UInt64 = 0
  private var byteCount = 0
  /// Bytes for the stream that were parsed in this step: they are passed on together, since a body may arrive
  /// in chunks of one byte.
  private var gathered: [UInt8] = []

  init(of request: Request, _ use: Use, awaitsContinue: Bool, nowMilliseconds: UInt64) {
    self.request = request
    self.use = use
    self.awaitsContinue = awaitsContinue
    startMilliseconds = nowMilliseconds
    lastMilliseconds = nowMilliseconds
  }

  /// Adds the bytes of `range`.
  mutating func take(_ bytes: Span<UInt8>, _ range: Range<Int>, _ around: inout Surroundings) {
    byteCount += range.count
    lastMilliseconds = around.nowMilliseconds
    // A client that sends does not wait for `100 Continue`.
    awaitsContinue = false
    switch use {
    case .discarded: break
    case .collected:
      if case .length(let length) = request.framing, request.body.isEmpty {
        // The length is only a claim: memory is reserved as bytes arrive, but not byte by byte.
        request.body.reserveCapacity(min(length, 4 * around.configuration.readBufferBytes))
      }
      bytes.append(range, to: &request.body)
    case .streamed:
      bytes.append(range, to: &gathered)
    }
  }

  /// Takes the bytes to pass on.
  mutating func takeGathered() -> [UInt8] {
    defer { gathered = [] }
    return gathered
  }

  /// The client was told to continue, and has its whole time from now on.
  mutating func toldToContinue(nowMilliseconds: UInt64) {
    awaitsContinue = false
    startMilliseconds = nowMilliseconds
    lastMilliseconds = nowMilliseconds
  }

  /// Pauses reading, since enough bytes wait.
  mutating func pause() { isPaused = true }

  /// Resumes reading, since bytes were taken; the client is not blamed for the time that this took.
  mutating func resume(nowMilliseconds: UInt64) {
    guard isPaused else { return }
    isPaused = false
    excusedMilliseconds += nowMilliseconds - lastMilliseconds
    lastMilliseconds = nowMilliseconds
  }

  /// Stops waiting for the rest.
  mutating func giveUp() { isGivenUp = true }

  /// The request with its body.
  consuming func complete(trailers: Fields) -> Request {
    request.trailers = trailers
    return request
  }

  /// The deadline: a body must not pause for too long, and must arrive at a minimum average rate; an unwanted
  /// one must be over soon.
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
