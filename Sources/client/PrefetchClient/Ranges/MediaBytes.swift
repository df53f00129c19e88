/// The bytes of a file, in order, as they arrive: from kept bytes, and from the network.
public struct MediaBytes: AsyncSequence, Sendable {
  /// One or more bytes.
  public typealias Element = [UInt8]
  /// The error that ends the sequence early.
  public typealias Failure = RangeStoreError

  let store: RangeStore
  let url: String
  let start: Int
  let end: Int?
  let priority: RangePriority

  /// Returns an iterator. Nothing is requested before the first `next`.
  public func makeAsyncIterator() -> Iterator { Iterator(bytes: self, position: start) }

  /// The iterator of a file's bytes.
  public struct Iterator: AsyncIteratorProtocol {
    let bytes: MediaBytes
    var position: Int
    var place: Place?
    var direct: DirectBytes?

    /// The next bytes; `nil` after the last.
    ///
    /// - Throws: `RangeStoreError`.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(RangeStoreError) -> [UInt8]? {
      if direct != nil { return try await direct?.next() }
      let store = bytes.store
      if place == nil { place = Place(store: store, number: await store.register(bytes.url)) }
      guard let place else { return nil }
      switch try await store.step(place.number, at: position, to: bytes.end, bytes.priority) {
      case .bytes(let next):
        position += next.count
        return next
      case .end: return nil
      case .direct(let version):
        direct = try await store.direct(
          bytes.url, from: position, to: bytes.end, version: version)
        return try await direct?.next()
      }
    }
  }

  /// Ends a reading in the store when the last reference is released.
  final class Place: Sendable {
    let store: RangeStore
    let number: Int

    init(store: RangeStore, number: Int) {
      self.store = store
      self.number = number
    }

    deinit {
      let (store, number) = (store, number)
      Task { await store.leave(number) }
    }
  }
}

/// The bytes of an answer that are not kept.
struct DirectBytes: Sendable {
  let body: any TransportBody
  /// The offset of the next byte.
  private var offset: Int
  /// The end of the bytes in the answer, if it is known.
  private let answerEnd: Int?
  /// The end of the file, if it is known.
  private let fileEnd: Int?
  private let start: Int
  private let end: Int?

  init(body: any TransportBody, range: RangeAnswer, from start: Int, to end: Int?) {
    self.body = body
    offset = range.start
    answerEnd = range.end
    fileEnd = range.fileBytes
    self.start = start
    self.end = end
  }

  /// The next of the wanted bytes; `nil` after the last.
  mutating func next() async throws(RangeStoreError) -> [UInt8]? {
    while offset < end ?? .max {
      guard let bytes = try await body.nextBytes() else {
        // Without a validator, no request can continue the read, also if the answer is shorter than
        // requested.
        let last = answerEnd == nil ? offset : fileEnd.map { min($0, end ?? $0) } ?? end ?? .max
        guard offset >= last else { throw .transport(.cut("\(offset) of \(last) bytes received")) }
        if offset < start { throw .beyondEnd(fileBytes: offset) }
        return nil
      }
      let first = offset
      offset += bytes.count
      if let answerEnd, offset > answerEnd {
        throw .malformedAnswer("more bytes than its head states")
      }
      // A server without ranges sends the file from its first byte.
      let (lower, upper) = (max(start - first, 0), min(bytes.count, (end ?? .max) - first))
      if lower < upper { return Array(bytes[lower..<upper]) }
    }
    body.cancel()
    return nil
  }
}

/// Facts about a file that a player asks for before it plays.
public struct MediaInformation: Hashable, Sendable {
  /// The file's size in bytes; `nil` if the server does not state it.
  public let bytes: Int?
  /// The file's `Content-Type`.
  public let mimeType: String?
  /// Whether the server answers requests for ranges.
  public let acceptsRanges: Bool
}

/// A network event of a range store.
public enum RangeStoreEvent: Sendable {
  /// A request is sent.
  case asked(url: String)
  /// The head of the answer arrived, this long after the request.
  case answered(url: String, after: Duration)
  /// The answer ended, or there is none.
  case ended(url: String)
  /// Bytes arrived and are kept; `newBytes` of them were not kept before.
  case arrived(url: String, range: Range<Int>, newBytes: Int)
}
