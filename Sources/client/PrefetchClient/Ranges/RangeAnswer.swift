/// What the answer to a request for a range states about the bytes that follow. Pure.
///
/// It rejects a 206 that is not a single range, that begins elsewhere or ends later than requested, or whose
/// lengths contradict each other (RFC 9110 sections 14.4 and 15.3.7), and any content coding, because ranges
/// of coded content are not ranges of the file.
package struct RangeAnswer: Equatable {
  /// The range of the file that the body holds; `end` is `nil` if the answer does not state it.
  package let start: Int
  package let end: Int?
  /// The file's size; `nil` if the answer does not state it.
  package let fileBytes: Int?
  /// The file's version; `nil` if the answer has no strong validator or no size.
  package let version: FileVersion?
  package let mimeType: String?

  /// The maximum size of a file, 2 ^ 46 bytes: offsets can be added without overflow.
  static let fileByteLimit = 1 << 46

  /// Reads an answer to a request for a range.
  ///
  /// - Parameters:
  ///   - start: the first requested byte.
  ///   - end: the end of the requested range; `nil` for that of the file.
  package init(
    status: Int, fields: TransportFields, start wantedStart: Int, end wantedEnd: Int?
  ) throws(RangeStoreError) {
    if let coding = fields["content-encoding"], coding.lowercased() != "identity" {
      throw .malformedAnswer("the content coding \(coding) was not requested")
    }
    let length = try Self.length(fields)
    mimeType = fields["content-type"]
    switch status {
    case 206:
      let range = try Self.contentRange(fields)
      guard range.start == wantedStart else {
        throw .malformedAnswer(
          "bytes from \(range.start) on, but from \(wantedStart) on were requested")
      }
      if let wantedEnd, range.end > wantedEnd {
        throw .malformedAnswer("bytes up to \(range.end), but up to \(wantedEnd) were requested")
      }
      if let length, length != range.end - range.start {
        throw .malformedAnswer(
          "a length of \(length) for a range of \(range.end - range.start) bytes")
      }
      (start, end, fileBytes) = (range.start, range.end, range.fileBytes)
    case 200: (start, end, fileBytes) = (0, length, length)
    case 416:
      throw .beyondEnd(fileBytes: try Self.unsatisfied(fields))
    default: throw .status(status, retryAfterMilliseconds: fields.retryAfterMilliseconds)
    }
    version = fileBytes.flatMap { bytes in
      FileVersion.Validator(fields).map { FileVersion(validator: $0, bytes: bytes) }
    }
  }

  private static func length(_ fields: TransportFields) throws(RangeStoreError) -> Int? {
    guard let text = fields["content-length"] else { return nil }
    guard let length = number(text) else { throw .malformedAnswer("Content-Length: \(text)") }
    return length
  }

  /// Parses `bytes 0-499/1234` and `bytes 0-499/*`.
  private static func contentRange(
    _ fields: TransportFields
  ) throws(RangeStoreError) -> (start: Int, end: Int, fileBytes: Int?) {
    guard let text = fields["content-range"] else {
      throw .malformedAnswer("206 without a Content-Range")
    }
    let parts = parts(text)
    guard parts.count == 3, let first = number(parts[0]), let last = number(parts[1]),
      first <= last, last < fileByteLimit
    else { throw .malformedAnswer("Content-Range: \(text)") }
    if parts[2] == "*" { return (first, last + 1, nil) }
    guard let bytes = number(parts[2]), last < bytes else {
      throw .malformedAnswer("Content-Range: \(text)")
    }
    return (first, last + 1, bytes)
  }

  /// Parses `bytes */1234`.
  private static func unsatisfied(_ fields: TransportFields) throws(RangeStoreError) -> Int? {
    guard let text = fields["content-range"] else { return nil }
    guard text.lowercased().hasPrefix("bytes */"), let bytes = number(text.dropFirst(8)) else {
      throw .malformedAnswer("Content-Range: \(text)")
    }
    return bytes
  }

  /// The first byte, the last byte and the size in a `Content-Range`.
  private static func parts(_ text: String) -> [Substring] {
    guard text.lowercased().hasPrefix("bytes ") else { return [] }
    let halves = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return [] }
    return halves[0].split(separator: "-", omittingEmptySubsequences: false) + [halves[1]]
  }

  /// Parses digits only, up to the maximum size of a file.
  private static func number(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(text), number <= fileByteLimit
    else { return nil }
    return number
  }
}

extension TransportFields {
  /// The wait that `Retry-After` states in seconds (RFC 9110 section 10.2.3), at most an hour; `nil` if it is
  /// absent or a date, for which the clocks would have to agree.
  var retryAfterMilliseconds: Int? {
    self["retry-after"].flatMap { Int($0) }.flatMap { $0 >= 0 ? min($0, 3_600) * 1_000 : nil }
  }
}
