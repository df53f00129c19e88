extension MediaType {
  /// What a stream's first packet says of its codec, and the offset at which it says so.
  private typealias CodecMark = (text: String, offset: Int)

  /// Theora, Dirac, VP8, and OGM's video.
  private static let pictures: [CodecMark] = [
    ("theora", 1), ("BBCD\0", 0), ("OVP80", 0), ("\u{1}video\0", 0),
  ]
  private static let sounds: [CodecMark] = [
    ("vorbis", 1), ("OpusHead", 0), ("FLAC", 1), ("Speex   ", 0),
  ]

  /// Ogg, by the codecs that its first pages announce (RFC 3533 section 6, RFC 5334 section 10): a
  /// picture in any of them makes it a video. The name decides where no codec is known.
  static func ogg(_ head: MediaHead, _ name: MediaName) -> MediaType? {
    guard head.holds("OggS\0") else { return nil }
    let packets = firstPackets(head)
    let announces = { (marks: [CodecMark]) in
      packets.contains { packet in
        marks.contains { head.holds($0.text, at: packet + $0.offset) }
      }
    }
    if announces(pictures) { return .passive("video/ogg") }
    if announces(sounds) || name.ends(in: "oga", "ogg", "opus", "spx") {
      return .passive("audio/ogg")
    }
    return .passive(name.ends(in: "ogv") ? "video/ogg" : "application/ogg")
  }

  /// The offsets of the streams' first packets: each stream's first page is flagged as such (2), and
  /// all of them come before any other page.
  private static func firstPackets(_ head: MediaHead) -> [Int] {
    var packets: [Int] = []
    var page = 0
    while head.holds("OggS\0", at: page), let flags = head[page + 5], flags & 2 != 0,
      let segmentCount = head[page + 26].map(Int.init)
    {
      let segmentBytes = (0..<segmentCount).map { Int(head[page + 27 + $0] ?? 0) }
      packets.append(page + 27 + segmentCount)
      page += 27 + segmentCount + segmentBytes.reduce(0, +)
    }
    return packets
  }
}
