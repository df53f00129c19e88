extension MediaType {
  /// Sound that is in no container of the other families (WHATWG MIME Sniffing section 6.2).
  static func sound(_ head: MediaHead, _ name: MediaName) -> MediaType? {
    if head.holds("RIFF"), head.holds("WAVE", at: 8) { return .passive("audio/wav") }
    // The first block is the stream's description, which is 34 bytes long (RFC 9639 section 8.2).
    if head.holds("fLaC"), let block = head.number(at: 4, width: 4), block & 0x7fff_ffff == 34 {
      return .passive("audio/flac")
    }
    if isTagged(head) { return .passive(type(ofTaggedFile: name)) }
    if holdsTwoFrames(head, MPEGFrame.layer3) { return .passive("audio/mpeg") }
    return holdsTwoFrames(head, MPEGFrame.adts) ? .passive("audio/aac") : nil
  }

  /// Whether it begins with an ID3 tag: a version, flags, and a size of seven bits a byte
  /// (id3.org, ID3v2.4.0 section 3.1).
  private static func isTagged(_ head: MediaHead) -> Bool {
    guard head.holds("ID3"), let version = head[3], let size = head.number(at: 6, width: 4) else {
      return false
    }
    return (2...4).contains(version) && size & 0x8080_8080 == 0
  }

  /// Behind the tag, which may be as long as a picture, is MP3 unless the name says otherwise.
  private static func type(ofTaggedFile name: MediaName) -> String {
    if name.ends(in: "aac") { return "audio/aac" }
    return name.ends(in: "flac") ? "audio/flac" : "audio/mpeg"
  }

  /// Whether a frame begins the file, and another one follows it at once: the few bits by which one
  /// is known are found by chance too easily.
  private static func holdsTwoFrames(
    _ head: MediaHead, _ frame: (ArraySlice<UInt8>) -> MPEGFrame?
  ) -> Bool {
    guard let first = frame(head.bytes) else { return false }
    return frame(head.bytes.dropFirst(first.bytes)) != nil
  }
}
