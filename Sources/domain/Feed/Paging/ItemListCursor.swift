/// A position in the list of all items: the item at which it was made may be deleted.
public struct ItemListCursor: Hashable, Sendable {
  private static let version: UInt8 = 1
  /// Part of the checksum, so that a cursor of a feed's items is rejected for this list.
  private static let salt = Array("items".utf8)

  /// The store's number of the post at the cursor's position.
  public let number: Int64

  /// Creates a cursor at the post with this number.
  public init(number: Int64) { self.number = number }

  private static func checksum(_ content: some Collection<UInt8>) -> [UInt8] {
    let salted = salt + content
    return withUnsafeBytes(of: CRC32.checksum(salted.span).bigEndian) { Array($0) }
  }

  /// The text for clients: base64url without padding of a version, the number and a CRC-32.
  public var text: String {
    let content = [Self.version] + withUnsafeBytes(of: number.bigEndian) { Array($0) }
    var text: [UInt8] = []
    Base64URL.encode((content + Self.checksum(content)).span, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Parses what `text` writes.
  ///
  /// - Throws: `CursorTextError`.
  public init(text: String) throws(CursorTextError) {
    guard let bytes = Base64URL.decode(text), bytes.count == 13 else { throw .damaged }
    let content = bytes.dropLast(4)
    guard Self.checksum(content).elementsEqual(bytes.suffix(4)) else { throw .damaged }
    guard content[0] == Self.version else { throw .unknownVersion(Int(content[0])) }
    number = content.dropFirst().reduce(0) { $0 << 8 | Int64($1) }
  }
}
