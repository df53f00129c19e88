/// An answer of an object store.
struct StoreAnswer: Sendable {
  let status: Int
  /// The header fields, by lower-case names.
  private var fields: [String: String] = [:]
  var body: [UInt8] = []

  init(status: Int) { self.status = status }

  /// Parses a line of the head.
  mutating func add(line: String) {
    let parts = line.split(separator: ":", maxSplits: 1)
    guard parts.count == 2 else { return }
    let value = parts[1].drop { $0 == " " || $0 == "\t" }
      .prefix { $0 != "\r\n" && $0 != "\r" && $0 != "\n" }
    fields[parts[0].lowercased()] = String(value)
  }

  subscript(name: String) -> String? { fields[name] }

  /// The error that S3 describes in its XML; an answer to HEAD has only the bucket's region.
  var refusal: ObjectStoreError {
    var message = String((XMLText.first("Message", in: body[...]) ?? "").prefix(300))
    if (300..<400).contains(status), let region = self["x-amz-bucket-region"]?.prefix(60) {
      message += (message.isEmpty ? "" : " ") + "The bucket is in \(region)."
    }
    return .refused(
      status: status,
      code: XMLText.first("Code", in: body[...]) ?? (status == 301 ? "PermanentRedirect" : ""),
      message: message)
  }

  /// Whether the same request may succeed soon.
  var isPassing: Bool { [500, 502, 503, 504, 429].contains(status) }

  /// The range of bytes and the size of the object, from `bytes 0-65535/1055836` (RFC 9110 section 14.4).
  var contentRange: (range: Range<Int>, size: Int)? {
    guard
      let match = self["content-range"]?.wholeMatch(
        of: /bytes ([0-9]{1,16})-([0-9]{1,16})\/([0-9]{1,16})/),
      let first = Int(match.output.1), let last = Int(match.output.2),
      let size = Int(match.output.3), first <= last, last < size
    else { return nil }
    return (first..<last + 1, size)
  }
}

/// Finds elements in the XML that S3 writes, which has no attributes in these elements, and no comments. It
/// compares bytes: a key may begin with a combining accent, which would be one character with the `>` before
/// it.
enum XMLText {
  /// The contents of the elements with this name, which must not be nested.
  static func all(_ name: String, in text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    let (opening, closing) = (Array("<\(name)>".utf8), Array("</\(name)>".utf8))
    var found: [ArraySlice<UInt8>] = []
    var rest = text
    while let start = end(of: opening, in: rest) {
      rest = rest[start...]
      guard let end = end(of: closing, in: rest) else { break }
      found.append(rest[..<(end - closing.count)])
      rest = rest[end...]
    }
    return found
  }

  /// The unescaped text of the first element with this name.
  static func first(_ name: String, in text: ArraySlice<UInt8>) -> String? {
    all(name, in: text).first.map { String(decoding: unescaped($0), as: UTF8.self) }
  }

  /// The index after the first occurrence of these bytes.
  private static func end(of bytes: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
    guard let first = bytes.first else { return nil }
    var index = text.startIndex
    while let found = text[index...].firstIndex(of: first) {
      let end = found + bytes.count
      guard end <= text.endIndex else { return nil }
      if text[found..<end].elementsEqual(bytes) { return end }
      index = found + 1
    }
    return nil
  }

  private static let entities: [(name: [UInt8], byte: UInt8)] = [
    ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("amp", "&"), ("#39", "'"),
    ("#34", "\""), ("#x27", "'"), ("#x22", "\""),
  ].map { (Array($0.utf8), $1.utf8.first ?? 0) }

  private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "&"), let end = rest.prefix(8).firstIndex(of: UInt8(ascii: ";")),
        let entity = entities.first(where: { rest[..<end].elementsEqual($0.name) })
      {
        bytes.append(entity.byte)
        rest = rest[(end + 1)...]
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  /// A text, escaped for an element.
  static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
