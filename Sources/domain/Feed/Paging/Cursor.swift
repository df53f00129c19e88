/// A point in a feed's order from which a page goes on.
///
/// Clients see it as an opaque text (see `Cursor+text.swift`). It names the feed, by a hash, and the
/// ranking it was made in and holds a position, not an item, so the item may be gone; it does not hold a page
/// size, so the next page may have another.
public struct Cursor: Hashable, Sendable {
  /// Which order the anchor is a place in.
  public enum View: Hashable, Sendable {
    /// One ranking, to its end, whatever ranking is current by then: history.
    case ranking(Int)
    /// What came after this ranking was seen: pull-to-refresh. Moves on to the current ranking.
    case newer(than: Int)
    /// The entries that ranking `to` has and ranking `from` had not.
    case arrivals(from: Int, to: Int)
  }

  /// A place between entries.
  public enum Anchor: Hashable, Sendable {
    /// Above everything.
    case start
    /// At this position, whether or not an entry is there.
    case position(Position)
    /// Below everything.
    case end
  }

  /// FNV-1a of the feed's name.
  public let feedHash: UInt64
  /// The order in which it is a place.
  public let view: View
  /// Where the page goes on.
  public let anchor: Anchor
  /// The top of what this walk has seen: what lies above it is newer.
  public let seen: Anchor

  /// A cursor of the feed of this name.
  public init(feed: String, view: View, anchor: Anchor, seen: Anchor) {
    self.init(feedHash: Self.hash(of: feed), view: view, anchor: anchor, seen: seen)
  }

  init(feedHash: UInt64, view: View, anchor: Anchor, seen: Anchor) {
    self.feedHash = feedHash
    self.view = view
    self.anchor = anchor
    self.seen = seen
  }

  /// A cursor of the same feed and walk, at another place.
  public func moved(to anchor: Anchor, in view: View) -> Cursor {
    Cursor(feedHash: feedHash, view: view, anchor: anchor, seen: seen)
  }

  /// The cursor was made for the feed of this name.
  public func belongs(to feed: String) -> Bool {
    feedHash == Self.hash(of: feed)
  }

  /// The rankings beside this one whose order must be at hand to read from here: mostly none.
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

/// What is wrong with the text of a cursor.
public enum CursorTextError: Error, Equatable, Sendable {
  /// Not base64url, cut short, or with a wrong check sum: not a cursor of this server.
  case damaged
  /// Made by a version of this program that wrote another form.
  case unknownVersion(Int)
}

extension Cursor {
  private static let version: UInt8 = 1

  /// The form clients get: base64url without padding (RFC 4648 section 5) of a version, the feed's
  /// hash, the view, the anchors and a CRC-32. It depends on nothing but the cursor, so it survives
  /// restarts and means the same on every replica.
  public var text: String {
    var text: [UInt8] = []
    write(to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends the bytes of `text`.
  public func write(to text: inout [UInt8]) {
    let capacity = Self.greatestNumbers + anchor.idBytes + seen.idBytes
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
      // The span is all that writes to the buffer, which outlives it.
      var bytes = OutputSpan(buffer: buffer, initializedCount: 0)
      write(to: &bytes)
      bytes.append(bigEndian: CRC32.checksum(bytes.span))
      Base64URL.encode(bytes.span, to: &text)
    }
  }

  /// What the text is made of, but for the check sum.
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

  /// What all but the ids takes at the most: the version, the hash, the view and its rankings, of each
  /// anchor its kind, its key and its id's length, and the check sum.
  private static let greatestNumbers = 1 + 8 + 1 + 2 * 10 + 2 * (1 + 8 + 10) + 4

  /// Reads what `text` wrote.
  ///
  /// - Throws: `CursorTextError`. The check sum finds damage, not forgery: a text that was made to pass
  ///   is read, and may name a feed or a ranking that there never was.
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
      // Behind the bytes that are there, within the capacity, as just looked.
      UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
        .copyMemory(from: bytes)
      count += bytes.count
    }
  }

  /// LEB128, seven bits a byte.
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

  /// The next this many bytes: where they lie.
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
      // A number is written in one way only, so that a cursor has one text.
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
