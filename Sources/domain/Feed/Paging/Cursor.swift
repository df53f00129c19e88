/// A point in a feed's order at which a page continues.
///
/// Clients see it as an opaque text (see `text`). It names the feed, by a hash, and the ranking in which it
/// was made. It holds a position and not an item, so the item may be deleted, and no page size, so the next
/// page may have another.
public struct Cursor: Hashable, Sendable {
  /// The order to which the anchor belongs.
  public enum View: Hashable, Sendable {
    /// One ranking, to its end, whichever ranking is current by then: history.
    case ranking(Int)
    /// Items that came after this ranking was seen: pull-to-refresh. Moves on to the current ranking.
    case newer(than: Int)
    /// The entries that ranking `to` has and ranking `from` does not have.
    case arrivals(from: Int, to: Int)
  }

  /// A place between entries.
  public enum Anchor: Hashable, Sendable {
    /// Above everything.
    case start
    /// At this position, whether or not it has an entry.
    case position(Position)
    /// Below everything.
    case end
  }

  /// FNV-1a of the feed's name.
  public let feedHash: UInt64
  /// The order of the anchors.
  public let view: View
  /// The place at which the page continues.
  public let anchor: Anchor
  /// The top of what this walk has seen: entries above it are newer.
  public let seen: Anchor

  /// Creates a cursor of the feed with this name.
  public init(feed: String, view: View, anchor: Anchor, seen: Anchor) {
    self.init(feedHash: Self.hash(of: feed), view: view, anchor: anchor, seen: seen)
  }

  init(feedHash: UInt64, view: View, anchor: Anchor, seen: Anchor) {
    self.feedHash = feedHash
    self.view = view
    self.anchor = anchor
    self.seen = seen
  }

  /// Returns a cursor of the same feed and walk at another place.
  public func moved(to anchor: Anchor, in view: View) -> Cursor {
    Cursor(feedHash: feedHash, view: view, anchor: anchor, seen: seen)
  }

  /// Whether the cursor was made for the feed with this name.
  public func belongs(to feed: String) -> Bool {
    feedHash == Self.hash(of: feed)
  }

  /// The rankings, other than the current one, whose order a read from here needs; usually none.
  public func rankings(beside current: Int) -> [Int] {
    switch view {
    case .ranking(let ranking), .newer(let ranking): ranking == current ? [] : [ranking]
    case .arrivals(let from, let to): [from, to].filter { $0 != current }
    }
  }

  private static func hash(of feed: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in feed.utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    return hash
  }
}

/// An error in the text of a cursor.
public enum CursorTextError: Error, Equatable, Sendable {
  /// Not base64url, truncated, or with a wrong checksum: not a cursor of this server.
  case damaged
  /// Made by a version of this program that uses another format.
  case unknownVersion(Int)
}

extension Cursor {
  private static let version: UInt8 = 1

  /// The text for clients: base64url without padding (RFC 4648 section 5) of a version, the feed's hash,
  /// the view, the anchors and a CRC-32. It depends only on the cursor, so it survives restarts and is the
  /// same on every replica.
  public var text: String {
    var text: [UInt8] = []
    write(to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends the bytes of `text`.
  public func write(to text: inout [UInt8]) {
    let capacity = Self.greatestNumbers + anchor.idBytes + seen.idBytes
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
      // Only the span writes to the buffer, and the buffer outlives it.
      var bytes = OutputSpan(buffer: buffer, initializedCount: 0)
      write(to: &bytes)
      bytes.append(bigEndian: CRC32.checksum(bytes.span))
      Base64URL.encode(bytes.span, to: &text)
    }
  }

  /// Writes the content of the text, without the checksum.
  private func write(to output: inout OutputSpan<UInt8>) {
    output.append(Self.version)
    output.append(bigEndian: feedHash)
    switch view {
    case .ranking(let ranking):
      output.append(0)
      output.append(variable: ranking)
    case .newer(let ranking):
      output.append(1)
      output.append(variable: ranking)
    case .arrivals(let from, let to):
      output.append(2)
      output.append(variable: from)
      output.append(variable: to)
    }
    output.append(anchor)
    output.append(seen)
  }

  /// The maximum size without the ids: the version, the hash, the view and its rankings; per anchor its
  /// kind, its key and its id's length; and the checksum.
  private static let greatestNumbers = 1 + 8 + 1 + 2 * 10 + 2 * (1 + 8 + 10) + 4

  /// Parses what `text` writes.
  ///
  /// - Throws: `CursorTextError`. The checksum detects damage, not forgery: a text with a forged checksum
  ///   is accepted, and may name a feed or a ranking that never existed.
  public init(text: String) throws(CursorTextError) {
    guard let bytes = Base64URL.decode(text), bytes.count > 5 else { throw .damaged }
    let content = 0..<bytes.count - 4
    var trailer = Reader(bytes, content.upperBound..<bytes.count)
    guard try trailer.bigEndian(UInt32.self) == CRC32.checksum(bytes.span.extracting(content))
    else { throw .damaged }
    var reader = Reader(bytes, content)
    let version = try reader.byte()
    guard version == Self.version else { throw .unknownVersion(Int(version)) }
    let feedHash = try reader.bigEndian(UInt64.self)
    let view: View
    switch try reader.byte() {
    case 0: view = .ranking(try reader.variable())
    case 1: view = .newer(than: try reader.variable())
    case 2: view = .arrivals(from: try reader.variable(), to: try reader.variable())
    default: throw .damaged
    }
    self.init(
      feedHash: feedHash, view: view, anchor: try reader.anchor(), seen: try reader.anchor())
    guard reader.isAtEnd else { throw .damaged }
  }
}

extension Cursor.Anchor {
  fileprivate var idBytes: Int {
    if case .position(let position) = self { position.id.utf8.count } else { 0 }
  }
}

extension OutputSpan<UInt8> {
  fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { append($0) }
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    withUnsafeMutableBufferPointer { buffer, count in
      precondition(bytes.count <= buffer.count - count, "more than the capacity")
      // Copied after the existing bytes; the precondition checks that the capacity suffices.
      UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
        .copyMemory(from: bytes)
      count += bytes.count
    }
  }

  /// Appends a number as LEB128, seven bits per byte.
  fileprivate mutating func append(variable value: Int) {
    var rest = UInt64(value)
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  fileprivate mutating func append(_ anchor: Cursor.Anchor) {
    switch anchor {
    case .start: append(0)
    case .end: append(1)
    case .position(let position):
      append(2)
      append(bigEndian: position.key.rawValue)
      append(variable: position.id.utf8.count)
      var id = position.id
      id.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }
  }
}

private struct Reader {
  private let bytes: [UInt8]
  private var rest: Range<Int>

  init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    rest = range
  }

  var isAtEnd: Bool { rest.isEmpty }

  /// Returns the range of the next `count` bytes.
  private mutating func take(_ count: Int) throws(CursorTextError) -> Range<Int> {
    guard count <= rest.count else { throw .damaged }
    let taken = rest.lowerBound..<rest.lowerBound + count
    rest = taken.upperBound..<rest.upperBound
    return taken
  }

  mutating func byte() throws(CursorTextError) -> UInt8 { bytes[try take(1).lowerBound] }

  mutating func bigEndian<Value: FixedWidthInteger & BitwiseCopyable>(
    _: Value.Type
  ) throws(CursorTextError) -> Value {
    let start = try take(Value.bitWidth / 8).lowerBound
    return Value(
      bigEndian: bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: Value.self))
  }

  mutating func variable() throws(CursorTextError) -> Int {
    var value: UInt64 = 0
    for shift in stride(from: 0, to: 63, by: 7) {
      let byte = try byte()
      value |= UInt64(byte & 0x7f) << shift
      guard byte & 0x80 == 0 else { continue }
      // A number has only one encoding, so that a cursor has only one text.
      guard byte > 0 || shift == 0 else { throw .damaged }
      return Int(value)
    }
    throw .damaged
  }

  mutating func anchor() throws(CursorTextError) -> Cursor.Anchor {
    switch try byte() {
    case 0: return .start
    case 1: return .end
    case 2:
      let key = SortKey(rawValue: try bigEndian(Int64.self))
      let range = try take(try variable())
      do throws(UTF8.ValidationError) {
        let id = try UTF8Span(validating: bytes.span.extracting(range))
        return .position(Position(key: key, id: String(copying: id)))
      } catch {
        throw .damaged
      }
    default: throw .damaged
    }
  }
}
