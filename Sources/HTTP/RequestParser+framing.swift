extension RequestParser {
  /// Where the body ends (RFC 9112 section 6.3), or why that cannot be said.
  func messageFraming() throws(ProtocolError) -> Request.BodyFraming {
    guard head.hasTransferEncoding else {
      return head.contentLength.map { .length($0) } ?? .none
    }
    // RFC 9112 section 6.1: both may be a smuggling attempt and "ought to be handled as an error".
    if head.contentLength != nil { throw .contentLengthWithTransferEncoding }
    if head.minorVersion == 0 { throw .transferEncodingInOldVersion }
    if let coding = head.unknownCoding { throw .unknownTransferCoding(coding) }
    guard head.isChunked else { throw .malformedTransferEncoding("(empty)") }
    return .chunked
  }

  /// Digits only; a list of equal numbers is refused as well (RFC 9112 section 6.3, point 5).
  func contentLength(
    _ bytes: Span<UInt8>, _ value: Range<Int>
  ) throws(ProtocolError) -> Int {
    var length = 0
    for index in value {
      let (product, overflows) = length.multipliedReportingOverflow(by: 10)
      let (sum, overflowsToo) = product.addingReportingOverflow(Int(bytes[index] &- 0x30))
      guard bytes[index].isDigit, !overflows, !overflowsToo else {
        throw .malformedContentLength(bytes.text(value))
      }
      length = sum
    }
    guard !value.isEmpty else { throw .malformedContentLength("(empty)") }
    return length
  }

  /// One `Transfer-Encoding` line: `chunked` must come once and last (RFC 9112 section 6.1).
  mutating func noteTransferEncoding(
    _ bytes: Span<UInt8>, _ value: Range<Int>
  ) throws(ProtocolError) {
    head.hasTransferEncoding = true
    var isMalformed = false
    bytes.forEachListMember(value) { member in
      if head.isChunked || !member.allSatisfy({ bytes[$0].isTokenCharacter }) {
        isMalformed = true
      } else if bytes.equalsIgnoringCase(member, "chunked") {
        head.isChunked = true
      } else if head.unknownCoding == nil {
        head.unknownCoding = bytes.text(member)
      }
    }
    if isMalformed { throw .malformedTransferEncoding(bytes.text(value)) }
  }
}

extension Span where Element == UInt8 {
  /// Visits the members of a comma-separated list, trimmed, empty ones left out
  /// (RFC 9110 section 5.6.1).
  func forEachListMember(_ range: Range<Int>, _ visit: (Range<Int>) -> Void) {
    var start = range.lowerBound
    while start <= range.upperBound {
      var end = start
      while end < range.upperBound, self[end] != UInt8(ascii: ",") { end += 1 }
      var first = start
      var last = end
      while first < last, self[first].isOptionalWhitespace { first += 1 }
      while last > first, self[last - 1].isOptionalWhitespace { last -= 1 }
      if first < last { visit(first..<last) }
      start = end + 1
    }
  }
}
