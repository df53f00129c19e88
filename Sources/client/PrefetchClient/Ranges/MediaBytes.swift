/// Bytes of a file, in order, as they come: from what is kept, and from the network.
public struct MediaBytes: AsyncSequence, Sendable {
  /// Some bytes, none of them empty.
  public typealias Element = [UInt8]
  /// Why no more come.
  public typealias Failure = RangeStoreError

  let store: RangeStore
  let url: String
  let start: Int
  let end: Int?
  let priority: RangePriority

  /// Begins to read; nothing is asked for before the first `next`.
  public func makeAsyncIterator() -> Iterator { Iterator(bytes: self, position: start) }

  /// Reads on.
  public struct Iterator: AsyncIteratorProtocol {
    let bytes: MediaBytes
    var position: Int
    var place: Place?
    var direct: DirectBytes?

    /// The next bytes; `nil` behind the last.
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

  /// Keeps a reading's place in the store for as long as somebody holds it.
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

/// An answer's bytes that are not kept.
struct DirectBytes: Sendable {
  let body: any TransportBody
  /// The byte that comes next.
  private var offset: Int
  /// Behind the last byte that the answer has, where that is known.
  private let answerEnd: Int?
  /// Behind the last byte of the file, where that is known.
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

  /// The next of the bytes that are wanted; `nil` behind the last.
  mutating func next() async throws(RangeStoreError) -> [UInt8]? {
    while offset < end ?? .max {
      guard let bytes = try await body.nextBytes() else {
        // Without a validator nothing can be gone on with: also where the answer was for less than asked.
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
      // A server that does not know ranges sends the file from its first byte on.
      let (lower, upper) = (max(start - first, 0), min(bytes.count, (end ?? .max) - first))
      if lower < upper { return Array(bytes[lower..<upper]) }
    }
    body.cancel()
    return nil
  }
}

/// What a player asks before it plays.
public struct MediaInformation: Hashable, Sendable {
  /// The file's size; `nil` where the server does not say.
  public let bytes: Int?
  /// Its `Content-Type`.
  public let mimeType: String?
  /// Whether any range can be asked for.
  public let acceptsRanges: Bool
}

/// What crosses the network for a range store.
public enum RangeStoreEvent: Sendable {
  /// A request is sent.
  case asked(url: String)
  /// The head of its answer is there, so long after.
  case answered(url: String, after: Duration)
  /// The answer has ended, or there is none.
  case ended(url: String)
  /// Bytes are there, and kept; `newBytes` of them were not there before.
  case arrived(url: String, range: Range<Int>, newBytes: Int)
}
