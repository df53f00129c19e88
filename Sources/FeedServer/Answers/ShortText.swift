extension String {
  /// The text, or where that has more bytes of UTF-8 a beginning of it and how many it has:
  /// `unknown field "aaaa… (1048576 bytes)`.
  ///
  /// For what an answer quotes of what a client sent, which may be as long as a body.
  func shortened(toBytes limit: Int) -> String {
    let bytes = utf8
    // Counted no further than needed: most texts are short.
    guard let cut = bytes.index(startIndex, offsetBy: limit, limitedBy: endIndex), cut < endIndex
    else { return self }
    var end = cut
    while end > startIndex, UTF8.isContinuation(bytes[end]) { end = bytes.index(before: end) }
    return "\(self[..<end])… (\(bytes.count) bytes)"
  }
}
