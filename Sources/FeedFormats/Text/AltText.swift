import Feed

/// What a file shows, in words: as much as `alt` takes. A longer one stands in `extra`, so that no post is
/// refused for being described at length.
struct AltText {
  /// What goes into `alt`.
  let text: String?

  /// The words as an origin has them.
  init(_ words: String?, _ extra: inout ExtraMembers) {
    guard let words, words.unicodeScalars.count > RecordLimits.altCharacters else {
      text = words
      return
    }
    text = nil
    extra.add("description", text: words)
  }
}
