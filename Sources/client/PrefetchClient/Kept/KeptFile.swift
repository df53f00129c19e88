/// The URL and version of a file with kept bytes.
package struct KeptFile: Hashable {
  /// The file's URL.
  package let url: String
  /// The version of the kept bytes.
  package let version: FileVersion
  /// The file's `Content-Type`.
  package let mimeType: String?

  /// Creates the description of a file.
  package init(url: String, version: FileVersion, mimeType: String?) {
    self.url = url
    self.version = version
    self.mimeType = mimeType
  }
}

extension KeptFile {
  private static let magic = Array("lookahead ranges 1\n".utf8)

  /// The maximum size of an index's head in bytes.
  static let headLimitBytes = 65_536

  /// The head of an index: magic bytes, salt, length, the file, and a checksum of all of these.
  func head(salt: UInt64) -> [UInt8] {
    let kind: UInt8
    let validator: String
    switch version.validator {
    case .entityTag(let text): (kind, validator) = (1, text)
    case .modified(let text): (kind, validator) = (2, text)
    }
    var body = Self.bytes(UInt64(version.bytes)) + [kind]
    for text in [url, validator, mimeType ?? ""] {
      body += Self.bytes(UInt64(text.utf8.count)) + Array(text.utf8)
    }
    var head = Self.magic + Self.bytes(salt) + Self.bytes(UInt64(body.count)) + body
    var sum = Checksum(salt: salt)
    sum.append(head[...])
    head += Self.bytes(sum.value)
    return head
  }

  /// Decodes the head of an index, and its size; `nil` if it is incomplete or invalid.
  static func read(_ bytes: [UInt8]) -> (file: KeptFile, salt: UInt64, headBytes: Int)? {
    var reader = Reader(bytes: bytes[...])
    guard reader.take(magic.count).map({ $0.elementsEqual(magic) }) == true,
      let salt = reader.word(), let count = reader.word(), count <= headLimitBytes,
      let body = reader.take(Int(count)), let checksum = reader.word()
    else { return nil }
    let headBytes = reader.position
    var sum = Checksum(salt: salt)
    sum.append(bytes[..<(headBytes - 8)])
    guard sum.value == checksum else { return nil }
    var parts = Reader(bytes: body)
    guard let size = parts.word(), size <= UInt64(RangeAnswer.fileByteLimit),
      let kind = parts.take(1)?.first,
      let url = parts.text(), let validator = parts.text(), let mimeType = parts.text()
    else { return nil }
    let version = FileVersion(
      validator: kind == 1 ? .entityTag(validator) : .modified(validator), bytes: Int(size))
    let file = KeptFile(url: url, version: version, mimeType: mimeType.isEmpty ? nil : mimeType)
    return (file, salt, headBytes)
  }

  private static func bytes(_ word: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
  }
}

/// Reads the values that `head` wrote; `nil` if they are absent.
private struct Reader {
  var bytes: ArraySlice<UInt8>
  var position: Int { bytes.startIndex }

  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count <= bytes.count else { return nil }
    defer { bytes = bytes.dropFirst(count) }
    return bytes.prefix(count)
  }

  mutating func word() -> UInt64? {
    take(8)?.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func text() -> String? {
    guard let count = word(), count <= KeptFile.headLimitBytes, let text = take(Int(count)) else {
      return nil
    }
    return String(validating: text, as: UTF8.self)
  }
}
