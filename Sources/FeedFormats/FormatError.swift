import Feed

/// Why something of another format is no post.
struct FormatError: Error, CustomStringConvertible {
  /// A sentence without its end.
  let description: String

  init(_ description: String) { self.description = description }

  /// The time that a text says; nil where there is no text.
  static func time(_ text: String?, _ field: String) throws(FormatError) -> Timestamp? {
    guard let text else { return nil }
    guard let time = FeedDate.time(text) else {
      throw FormatError("\(field): \"\(text.prefix(60))\" is no time of RFC 3339 or RFC 822")
    }
    return time
  }
}
