/// A position in the sequence of a database's changes: after all changes that its reader has seen.
public struct ChangeCursor: Hashable, Sendable {
  private static let version: UInt8 = 1
  /// Part of the checksum, so that cursors of other kinds are rejected.
  private static let salt = Array("changes".utf8)

  /// The number that identifies the database, so that cursors of others are rejected.
  public let source: Int64
  /// The store's count of changes: two numbers. Depending on the store, the second orders changes with
  /// equal first numbers, or the two count independently.
  public let first: Int64
  /// The second number.
  public let second: Int64

  /// Creates the position after the change of these numbers.
  public init(source: Int64, first: Int64, second: Int64) {
    self.source = source
    self.first = first
    self.second = second
  }

  private static func checksum(_ content: some Collection<UInt8>) -> [UInt8] {
    let salted = salt + content
    return withUnsafeBytes(of: CRC32.checksum(salted.span).bigEndian) { Array($0) }
  }

  /// The text for clients: base64url without padding of a version, the numbers and a CRC-32.
  public var text: String {
    var content = [Self.version]
    for number in [source, first, second] {
      content += withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
    var text: [UInt8] = []
    Base64URL.encode((content + Self.checksum(content)).span, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Parses what `text` writes.
  ///
  /// - Throws: `CursorTextError`.
  public init(text: String) throws(CursorTextError) {
    guard let bytes = Base64URL.decode(text), bytes.count == 29 else { throw .damaged }
    let content = bytes.dropLast(4)
    guard Self.checksum(content).elementsEqual(bytes.suffix(4)) else { throw .damaged }
    guard content[0] == Self.version else { throw .unknownVersion(Int(content[0])) }
    func number(_ index: Int) -> Int64 {
      content[(1 + 8 * index)..<(9 + 8 * index)].reduce(0) { $0 << 8 | Int64($1) }
    }
    (source, first, second) = (number(0), number(1), number(2))
  }
}
