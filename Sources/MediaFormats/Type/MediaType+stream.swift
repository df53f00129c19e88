extension MediaType {
  /// An MPEG transport stream: packets of 188 bytes, each with 0x47 in front (ISO/IEC 13818-1
  /// section 2.4.3.2). All that the head has must have it, and there must be three.
  static func transportStream(_ head: MediaHead) -> MediaType? {
    let packets = stride(from: 0, to: head.count, by: 188)
    guard head.count > 2 * 188, packets.allSatisfy({ head[$0] == 0x47 }) else { return nil }
    return .passive("video/mp2t")
  }

  /// Playlists (RFC 8216 section 4) and subtitles (the file format of WebVTT): text, but of a kind
  /// that runs nothing.
  static func text(_ head: MediaHead) -> MediaType? {
    if begins(head, with: "#EXTM3U", at: 0) { return .passive("application/vnd.apple.mpegurl") }
    let mark = head.number(at: 0, width: 3) == 0xef_bbbf ? 3 : 0
    return begins(head, with: "WEBVTT", at: mark) ? .passive("text/vtt") : nil
  }

  /// Whether `word` stands at `offset`, and the line ends or goes on with a space behind it.
  private static func begins(_ head: MediaHead, with word: String, at offset: Int) -> Bool {
    guard head.holds(word, at: offset) else { return false }
    guard let next = head[offset + word.utf8.count] else { return true }
    return [0x09, 0x0a, 0x0d, 0x20].contains(next)
  }
}
