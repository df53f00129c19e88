import Feed

/// Why something of another format is no post.
struct FormatError: Error, CustomStringConvertible {
  /// A sentence without its end.
  let description: String

  init(_ description: String) { self.description = description }

  /// The time that a text says; nil where there is no text.
  static func time(
    _ text: String?, _ field: String, _ zone: LocalTimeZone
  ) throws(FormatError) -> Timestamp? {
    guard let text else { return nil }
    guard let time = FeedDate.time(text, zone) else {
      throw FormatError(
        "\(field): \"\(text.prefix(60))\" is no time such as 2012-07-28T23:05:56Z, 2012-07-28 23:05:56, "
          + "Sat, 28 Jul 2012 23:05:56 GMT or 1343516756")
    }
    return time
  }
}
