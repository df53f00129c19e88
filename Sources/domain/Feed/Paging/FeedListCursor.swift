/// A position in the list of feeds, between two names: the feed at which it was made may be deleted.
public enum FeedListCursor: Sendable {
  /// Above the first feed.
  case start
  /// Below the last feed.
  case end
  /// At this name.
  case name(String)
}

extension FeedListCursor: Hashable {
  private var key: (kind: UInt8, name: String) {
    switch self {
    case .start: (0, "")
    case .end: (1, "")
    case .name(let name): (2, name)
    }
  }

  /// Whether the kinds are equal and the names are identical to the byte.
  public static func == (left: FeedListCursor, right: FeedListCursor) -> Bool {
    left.key.kind == right.key.kind && left.key.name.isSame(as: right.key.name)
  }

  /// Hashes the bytes that `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(key.kind)
    key.name.hashBytes(into: &hasher)
  }
}

extension FeedListCursor {
  private static let version: UInt8 = 1
  /// Part of the checksum, so that a cursor of a feed's items is rejected for the list of feeds.
  private static let salt = Array("feeds".utf8)

  private static func checksum(_ content: some Collection<UInt8>) -> [UInt8] {
    let salted = salt + content
    return withUnsafeBytes(of: CRC32.checksum(salted.span).bigEndian) { Array($0) }
  }

  /// The text for clients: base64url without padding of a version, the kind, the name and a CRC-32.
  public var text: String {
    let content = [Self.version, key.kind] + Array(key.name.utf8)
    var text: [UInt8] = []
    Base64URL.encode((content + Self.checksum(content)).span, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Parses what `text` writes.
  ///
  /// - Throws: `CursorTextError`.
  public init(text: String) throws(CursorTextError) {
    guard let bytes = Base64URL.decode(text), bytes.count >= 6 else { throw .damaged }
    let content = bytes.dropLast(4)
    guard Self.checksum(content).elementsEqual(bytes.suffix(4)) else { throw .damaged }
    guard content[0] == Self.version else { throw .unknownVersion(Int(content[0])) }
    let name = content.dropFirst(2)
    switch content[1] {
    case 0 where name.isEmpty: self = .start
    case 1 where name.isEmpty: self = .end
    case 2:
      guard !name.isEmpty, let name = String(validating: name, as: UTF8.self) else {
        throw .damaged
      }
      self = .name(name)
    default: throw .damaged
    }
  }
}
