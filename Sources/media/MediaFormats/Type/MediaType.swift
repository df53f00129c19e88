/// The type of a file, determined by its content: the value of its `Content-Type` (RFC 9110 section 8.3), and
/// whether a browser may show it.
package struct MediaType: Sendable, Hashable {
  /// The number of bytes of a file that determine its type: one page, and more than the 1445 bytes of WHATWG
  /// MIME Sniffing section 5.2.
  package static let headBytes = 4096

  /// The type of anything not known to be passive (RFC 2046 section 4.5.1).
  package static let unknown = MediaType(value: "application/octet-stream", isPassive: false)

  /// An image that may run scripts. The first bytes alone never identify it, because other markup begins in
  /// the same way; a browser should not show it as a file of its own.
  static let svg = MediaType(value: "image/svg+xml", isPassive: false)

  /// The type and subtype, `video/mp4`.
  package let value: String
  /// Whether it is an image, sound, film, playlist or subtitles, which run no script wherever a browser opens
  /// them. The server sends everything else as an attachment (RFC 6266), and both with
  /// `X-Content-Type-Options: nosniff`, so that no browser guesses another type.
  package let isPassive: Bool

  /// Determines the type of a file that begins with `head`: its first `headBytes` bytes, or all of it.
  ///
  /// The content decides. The extension of `name` matters only where the content leaves open which type of
  /// one family it is, for example whether an MP4 file has only sound; it never makes another file passive.
  package init(head: [UInt8], name: String) {
    let head = MediaHead(head)
    let name = MediaName(name)
    self =
      head.beginsLikeMarkup
      ? .unknown
      : Self.image(head) ?? Self.isoMedia(head, name) ?? Self.quickTime(head, name)
        ?? Self.matroska(head, name) ?? Self.ogg(head, name) ?? Self.sound(head, name)
        ?? Self.transportStream(head) ?? Self.text(head) ?? .unknown
  }

  /// Creates a passive type.
  static func passive(_ value: String) -> MediaType { MediaType(value: value, isPassive: true) }

  private init(value: String, isPassive: Bool) {
    self.value = value
    self.isPassive = isPassive
  }
}

extension MediaType {
  /// Recognises images by their signatures (WHATWG MIME Sniffing section 6.1; ISO/IEC 18181-2 for JPEG XL).
  /// APNG has the signature of PNG, and browsers treat it as PNG.
  static func image(_ head: MediaHead) -> MediaType? {
    if head.number(at: 0, width: 3) == 0xff_d8ff { return .passive("image/jpeg") }
    if head.number(at: 0, width: 8) == 0x8950_4e47_0d0a_1a0a { return .passive("image/png") }
    if head.holds("GIF87a") || head.holds("GIF89a") { return .passive("image/gif") }
    if head.holds("RIFF"), head.holds("WEBPVP", at: 8) { return .passive("image/webp") }
    if isJPEGXL(head) { return .passive("image/jxl") }
    return isBitmap(head) ? .passive("image/bmp") : nil
  }

  private static func isJPEGXL(_ head: MediaHead) -> Bool {
    let isCodestream = head.number(at: 0, width: 2) == 0xff0a
    let isContainer =
      head.number(at: 0, width: 4) == 12 && head.holds("JXL ", at: 4)
      && head.number(at: 8, width: 4) == 0x0d0a_870a
    return isCodestream || isContainer
  }

  /// Whether it is a bitmap. Texts may begin with `BM`, so the reserved bytes must be zero as well, and the
  /// size of the second header (little-endian) must be that of one of its versions.
  private static func isBitmap(_ head: MediaHead) -> Bool {
    guard head.holds("BM"), head.number(at: 6, width: 4) == 0, let size = head[14] else {
      return false
    }
    return [12, 40, 52, 56, 64, 108, 124].contains(size) && head.number(at: 15, width: 3) == 0
  }
}

extension MediaType {
  /// Recognises the ISO base media family by the brands of the first box (ISO/IEC 14496-12 section 4.3): the
  /// major brand if it identifies a type, or else the first such compatible brand.
  static func isoMedia(_ head: MediaHead, _ name: MediaName) -> MediaType? {
    guard head.holds("ftyp", at: 4), let size = head.number(at: 0, width: 4),
      size >= 16, size % 4 == 0, let major = head.code(at: 8)
    else { return nil }
    // The version follows the major brand, then the compatible ones.
    let end = min(Int(size), head.count)
    let brands = [major] + stride(from: 16, to: end, by: 4).compactMap(head.code(at:))
    for brand in brands {
      if let type = type(ofBrand: brand, name) { return type }
    }
    return generalImage(brands)
  }

  /// Returns the type that a brand identifies by itself (the register of brands at mp4ra.org).
  private static func type(ofBrand brand: String, _ name: MediaName) -> MediaType? {
    switch brand {
    case "avif", "avis": .passive("image/avif")
    case "heic", "heix", "heim", "heis": .passive("image/heic")
    case "hevc", "hevx", "hevm", "hevs": .passive("image/heic-sequence")
    case "M4A ", "M4B ", "M4P ", "F4A ", "F4B ": .passive("audio/mp4")
    case "M4V ", "M4VH", "M4VP", "F4V ", "F4P ": .passive("video/mp4")
    // General brands, which do not tell whether there is a picture.
    case "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "isoa", "isob",
      "isoc", "mp41", "mp42", "mp71", "avc1", "mmp4", "MSNV", "dash", "msdh", "msix", "cmfc",
      "cmf2", "cmff", "cmfs":
      .passive(name.ends(in: "m4a", "m4b") ? "audio/mp4" : "video/mp4")
    case "qt  ": .passive("video/quicktime")
    case "3g2a", "3g2b", "3g2c": .passive("video/3gpp2")
    case _ where ["3gp", "3gr", "3gs", "3ge", "3gg"].contains(brand.prefix(3)):
      .passive("video/3gpp")
    default: nil
    }
  }

  /// Returns the type of an image of the HEIF family whose brands do not name its encoding (ISO/IEC 23008-12).
  private static func generalImage(_ brands: [String]) -> MediaType? {
    if brands.contains("mif1") { return .passive("image/heif") }
    return brands.contains("msf1") ? .passive("image/heif-sequence") : nil
  }
}

extension MediaType {
  /// Recognises WebM and Matroska by the EBML header (RFC 9559 section 27 has the types). The tracks come
  /// much later, so the name may tell that there is no picture.
  static func matroska(_ head: MediaHead, _ name: MediaName) -> MediaType? {
    switch EBMLHeader(head)?.documentType {
    case "webm": .passive(name.ends(in: "weba") ? "audio/webm" : "video/webm")
    case "matroska": .passive(name.ends(in: "mka") ? "audio/matroska" : "video/matroska")
    default: nil
    }
  }
}

extension MediaType {
  /// The mark of a codec in a stream's first packet, and its offset there.
  private typealias CodecMark = (text: String, offset: Int)

  /// Theora, Dirac, VP8, and OGM's video.
  private static let pictures: [CodecMark] = [
    ("theora", 1), ("BBCD\0", 0), ("OVP80", 0), ("\u{1}video\0", 0),
  ]
  private static let sounds: [CodecMark] = [
    ("vorbis", 1), ("OpusHead", 0), ("FLAC", 1), ("Speex   ", 0),
  ]

  /// Recognises Ogg by the codecs on its first pages (RFC 3533 section 6, RFC 5334 section 10): a picture in
  /// any of them makes it a video. The name decides if no codec is known.
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

  /// Returns the offsets of the streams' first packets. Each stream's first page has a flag (2), and all of
  /// them precede any other page.
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

extension MediaType {
  /// Recognises files older than the `ftyp` box: QuickTime's, and the first MP4 files, which only the name
  /// distinguishes (QuickTime File Format, "Movie Atoms"). Padding may precede the movie.
  static func quickTime(_ head: MediaHead, _ name: MediaName) -> MediaType? {
    var offset = 0
    while let code = head.code(at: offset + 4), let size = head.number(at: offset, width: 4) {
      switch code {
      case "moov", "mdat":
        // A size of 0 extends to the end of the file; 1 means that a 64-bit size follows.
        guard size <= 1 || size >= 8 else { return nil }
        return .passive(name.ends(in: "mp4", "m4v") ? "video/mp4" : "video/quicktime")
      case "wide", "free", "skip", "pnot":
        guard size >= 8 else { return nil }
        offset += Int(size)
      default: return nil
      }
    }
    return nil
  }
}

extension MediaType {
  /// Recognises sound outside of the containers above (WHATWG MIME Sniffing section 6.2).
  static func sound(_ head: MediaHead, _ name: MediaName) -> MediaType? {
    if head.holds("RIFF"), head.holds("WAVE", at: 8) { return .passive("audio/wav") }
    // The first block is the stream's description with 34 bytes (RFC 9639 section 8.2).
    if head.holds("fLaC"), let block = head.number(at: 4, width: 4), block & 0x7fff_ffff == 34 {
      return .passive("audio/flac")
    }
    if isTagged(head) { return .passive(type(ofTaggedFile: name)) }
    if holdsTwoFrames(head, MPEGFrame.layer3) { return .passive("audio/mpeg") }
    return holdsTwoFrames(head, MPEGFrame.adts) ? .passive("audio/aac") : nil
  }

  /// Whether the file begins with an ID3 tag: a version, flags, and a size with seven bits per byte
  /// (id3.org, ID3v2.4.0 section 3.1).
  private static func isTagged(_ head: MediaHead) -> Bool {
    guard head.holds("ID3"), let version = head[3], let size = head.number(at: 6, width: 4) else {
      return false
    }
    return (2...4).contains(version) && size & 0x8080_8080 == 0
  }

  /// Returns the type of a file with a tag, which may be as long as a picture: MP3 unless the name differs.
  private static func type(ofTaggedFile name: MediaName) -> String {
    if name.ends(in: "aac") { return "audio/aac" }
    return name.ends(in: "flac") ? "audio/flac" : "audio/mpeg"
  }

  /// Whether the file begins with a frame that another one follows at once. The few bits that identify one
  /// frame occur too often by chance.
  private static func holdsTwoFrames(
    _ head: MediaHead, _ frame: (ArraySlice<UInt8>) -> MPEGFrame?
  ) -> Bool {
    guard let first = frame(head.bytes) else { return false }
    return frame(head.bytes.dropFirst(first.bytes)) != nil
  }
}

extension MediaType {
  /// Recognises an MPEG transport stream: packets of 188 bytes that begin with 0x47 (ISO/IEC 13818-1 section
  /// 2.4.3.2). All packets in the head must match, and there must be three.
  static func transportStream(_ head: MediaHead) -> MediaType? {
    let packets = stride(from: 0, to: head.count, by: 188)
    guard head.count > 2 * 188, packets.allSatisfy({ head[$0] == 0x47 }) else { return nil }
    return .passive("video/mp2t")
  }

  /// Recognises playlists (RFC 8216 section 4) and subtitles (the file format of WebVTT):
  /// text that runs no script.
  static func text(_ head: MediaHead) -> MediaType? {
    if begins(head, with: "#EXTM3U", at: 0) { return .passive("application/vnd.apple.mpegurl") }
    let mark = head.number(at: 0, width: 3) == 0xef_bbbf ? 3 : 0
    return begins(head, with: "WEBVTT", at: mark) ? .passive("text/vtt") : nil
  }

  /// Whether `word` is at `offset`, followed by white space or the end.
  private static func begins(_ head: MediaHead, with word: String, at offset: Int) -> Bool {
    guard head.holds(word, at: offset) else { return false }
    guard let next = head[offset + word.utf8.count] else { return true }
    return [0x09, 0x0a, 0x0d, 0x20].contains(next)
  }
}

/// The first bytes of a file. Access beyond their end returns nil or no match.
struct MediaHead {
  let bytes: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { self.bytes = bytes.prefix(MediaType.headBytes) }

  var count: Int { bytes.count }

  /// The byte at an offset of zero or more.
  subscript(offset: Int) -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

  /// Whether these characters are at `offset`.
  func holds(_ text: String, at offset: Int = 0) -> Bool {
    offset <= bytes.count && bytes[offset...].starts(with: text.utf8)
  }

  /// The unsigned big-endian number of `width` bytes (at most 8).
  func number(at offset: Int, width: Int) -> UInt64? {
    guard offset >= 0, width <= bytes.count - offset else { return nil }
    return bytes[offset..<offset + width].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The four-character code at `offset`, as in ISO base media files.
  func code(at offset: Int) -> String? {
    guard offset >= 0, 4 <= bytes.count - offset else { return nil }
    return String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
  }

  /// Whether a browser would see markup: the first byte that is neither a byte order mark nor white space is
  /// `<` (WHATWG MIME Sniffing section 7.1).
  var beginsLikeMarkup: Bool {
    let marks: [[UInt8]] = [[0xef, 0xbb, 0xbf], [0xfe, 0xff], [0xff, 0xfe]]
    let mark = marks.first(where: bytes.starts(with:)) ?? []
    let text = bytes.dropFirst(mark.count).drop { [0x09, 0x0a, 0x0c, 0x0d, 0x20].contains($0) }
    return text.first == UInt8(ascii: "<")
  }
}

/// A file's name, of which only the extension matters.
struct MediaName {
  /// The part after the last dot, in lower case (ASCII); empty if there is no dot.
  let fileExtension: String

  init(_ name: String) {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else {
      fileExtension = ""
      return
    }
    fileExtension = String(name[name.utf8.index(after: dot)...]).lowercased()
  }

  /// Whether the extension is one of these.
  func ends(in extensions: String...) -> Bool { extensions.contains(fileExtension) }
}
