extension RequestParser {
  /// Reads the request target in any of its four forms (RFC 9112 section 3.2).
  mutating func parseTarget(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(ProtocolError) {
    if head.method == .connect { throw .connectRefused }
    let first = bytes[range.lowerBound]
    if first == UInt8(ascii: "/") {
      takeTarget(bytes.copy(range))
    } else if first == UInt8(ascii: "*"), range.count == 1 {
      guard head.method == .options else {
        throw .malformedTarget("is an asterisk, which only OPTIONS may have")
      }
      takeTarget([first])
    } else {
      try parseAbsoluteForm(bytes, range)
    }
  }

  private mutating func takeTarget(_ target: [UInt8]) {
    head.pathEnd = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
    head.target = target
  }

  /// `http://authority/path?query` (RFC 9112 section 3.2.2): the authority replaces `Host`.
  private mutating func parseAbsoluteForm(
    _ bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(ProtocolError) {
    var start = range.lowerBound
    if range.count > 7, bytes.equalsIgnoringCase(start..<(start + 7), "http://") {
      start += 7
    } else if range.count > 8, bytes.equalsIgnoringCase(start..<(start + 8), "https://") {
      start += 8
    } else {
      throw .malformedTarget("is neither a path nor an http or https URI")
    }
    var end = start
    while end < range.upperBound, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?"),
      bytes[end] != UInt8(ascii: "#")
    {
      end += 1
    }
    guard Authority.isWellFormed(bytes, start..<end) else {
      throw .malformedTarget("has a malformed authority")
    }
    head.authority = bytes.text(start..<end)
    let rest = bytes.copy(end..<range.upperBound)
    if rest.first == UInt8(ascii: "/") {
      takeTarget(rest)
    } else if rest.isEmpty, head.method == .options {
      // RFC 9112 section 3.2.4: an OPTIONS without a path is about the server as a whole.
      takeTarget([UInt8(ascii: "*")])
    } else {
      takeTarget([UInt8(ascii: "/")] + rest)
    }
  }
}
