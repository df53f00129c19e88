extension RequestParser {
  /// How many empty lines are ignored before a request line (RFC 9112 section 2.2).
  static let ignoredEmptyLines = 4

  /// Reads the request line (RFC 9112 section 3).
  mutating func requestLine(_ bytes: Span<UInt8>, _ position: inout Int) -> Event? {
    guard position < bytes.count else { return .needMoreBytes }
    let first = bytes[position]
    if first == .carriageReturn {
      guard position + 1 < bytes.count else { return .needMoreBytes }
      guard bytes[position + 1] == .lineFeed, emptyLines < Self.ignoredEmptyLines else {
        return fail(.malformedRequestLine)
      }
      emptyLines += 1
      position += 2
      return nil
    }
    // What cannot be a request (a TLS hello, an answer) is refused at its first byte.
    guard first.isTokenCharacter else {
      return fail(first == .lineFeed ? .bareLineFeed : .malformedRequestLine)
    }
    switch line(bytes, position) {
    case .partial(let length):
      // One more for a CR that is there while its LF is not.
      if length > limits.requestLineBytes + 1 { return tooLong() }
      return .needMoreBytes
    case .bareLineFeed(let length):
      return length > limits.requestLineBytes + 1 ? tooLong() : fail(.bareLineFeed)
    case .complete(let range):
      if range.count > limits.requestLineBytes { return tooLong() }
      do throws(ProtocolError) {
        try parseRequestLine(bytes, range)
      } catch {
        return fail(error)
      }
      head.fieldsStart = lineStart
      phase = .fields
      return nil
    }
  }

  private mutating func tooLong() -> Event {
    fail(.requestLineTooLong(limitBytes: limits.requestLineBytes))
  }

  private mutating func parseRequestLine(
    _ bytes: Span<UInt8>, _ line: Range<Int>
  ) throws(ProtocolError) {
    var methodEnd = line.lowerBound
    while methodEnd < line.upperBound, bytes[methodEnd].isTokenCharacter { methodEnd += 1 }
    guard methodEnd < line.upperBound else { throw .malformedRequestLine }
    guard methodEnd > line.lowerBound, bytes[methodEnd] == .space else { throw .malformedMethod }

    let targetStart = methodEnd + 1
    let targetEnd = min(bytes.firstIndex(of: .space, from: targetStart), line.upperBound)
    // Looked at many at once: nearly all are visible.
    var (controls, foreignBits): (UInt8, UInt8) = (0, 0)
    bytes.extracting(targetStart..<targetEnd).withUnsafeBufferPointer { target in
      for byte in target {
        controls |= (byte < 0x20 ? 1 : 0) | (byte == 0x7F ? 1 : 0)
        foreignBits |= byte & 0x80
      }
    }
    if controls != 0 { throw .malformedTarget("holds a control character") }
    let hasForeignBytes = foreignBits != 0
    guard targetEnd < line.upperBound, targetEnd > targetStart else { throw .malformedRequestLine }
    head.minorVersion = try version(bytes, (targetEnd + 1)..<line.upperBound)
    // RFC 3986 has only ASCII in a URI; RFC 1945 section 3.2.1 has "national" octets as well.
    if hasForeignBytes, head.minorVersion > 0 {
      throw .malformedTarget("holds bytes that are not ASCII")
    }

    let methodRange = line.lowerBound..<methodEnd
    if let method = Method(bytes, methodRange) {
      head.method = method
    } else {
      head.unknownMethod = bytes.text(methodRange)
    }
    try parseTarget(bytes, targetStart..<targetEnd)
  }

  /// `HTTP/` digit `.` digit (RFC 9112 section 2.3): any minor version from 1 on is read as 1.1.
  private func version(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(ProtocolError) -> Int {
    let start = range.lowerBound
    guard range.count == 8, bytes.equals(start..<(start + 5), "HTTP/"), bytes[start + 5].isDigit,
      bytes[start + 6] == UInt8(ascii: "."), bytes[start + 7].isDigit
    else { throw .malformedVersion }
    let major = Int(bytes[start + 5] - 0x30)
    let minor = Int(bytes[start + 7] - 0x30)
    guard major == 1 else { throw .unsupportedVersion(major: major, minor: minor) }
    return min(minor, 1)
  }
}
