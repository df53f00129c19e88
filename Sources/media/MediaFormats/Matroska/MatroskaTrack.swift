/// A track of a Matroska file (RFC 9559 section 5.1.4).
struct MatroskaTrack {
  private(set) var number: Int64 = 0
  private(set) var isPicture = false
  private(set) var isSound = false
  private(set) var isEnabled = true
  private(set) var isDefault = true
  /// FFmpeg's name of the codec, or else the file's own.
  private(set) var codec = ""
  /// The default duration of a frame.
  private(set) var frameNanoseconds: Int64 = 0
  /// The time at the start of the sound that the decoder needs but does not play.
  private(set) var delayNanoseconds: Int64 = 0
  private(set) var hasAlpha = false
  private(set) var isEncrypted = false
  private(set) var orientation = PictureOrientation.upright
  private(set) var codedSize: PixelSize?

  /// For H.264 and HEVC: the number of bytes in the length field of each part of a frame.
  private(set) var lengthBytes: Int?

  private var crop = (horizontal: 0, vertical: 0)
  private var display = (width: Int64(0), height: Int64(0))
  private var displayUnit: Int64 = 0

  /// Reads a `TrackEntry` element.
  init(_ fields: FieldReader) throws {
    var configuration: FieldReader?
    try EBMLElement.forEach(fields) { identifier, content in
      switch identifier {
      case 0xd7: number = try content.ebmlUnsigned()
      case 0x83:
        let kind = try content.ebmlUnsigned()
        isPicture = kind == 1
        isSound = kind == 2
      case 0xb9: isEnabled = try content.ebmlUnsigned() != 0
      case 0x88: isDefault = try content.ebmlUnsigned() != 0
      case 0x86: codec = Self.codec(content.ebmlText())
      case 0x23_e383: frameNanoseconds = try content.ebmlUnsigned()
      case 0x56aa: delayNanoseconds = try content.ebmlUnsigned()
      case 0x63a2: configuration = content
      case 0xe0: try readPictures(content)
      case 0x6d80: try readEncodings(content)
      default: break
      }
    }
    lengthBytes = configuration.flatMap { Self.lengthBytes(codec, $0) }
  }

  /// Reads `ContentEncodings` (section 5.1.4.1.31): whether one of them encrypts.
  private mutating func readEncodings(_ fields: FieldReader) throws {
    try EBMLElement.forEach(fields) { identifier, content in
      guard identifier == 0x6240 else { return }
      try EBMLElement.forEach(content) { identifier, content in
        if identifier == 0x5033, try content.ebmlUnsigned() == 1 { isEncrypted = true }
      }
    }
  }

  /// Returns the width of length fields; other files have the same data in `avcC` and `hvcC` boxes.
  private static func lengthBytes(_ codec: String, _ configuration: FieldReader) -> Int? {
    guard let place = ["h264": 4, "hevc": 21][codec] else { return nil }
    var fields = configuration
    guard (try? fields.skip(place)) != nil else { return nil }
    return (try? fields.byte()).map { Int($0 & 3) + 1 }
  }

  /// Reads `Video` (section 5.1.4.1.28).
  private mutating func readPictures(_ fields: FieldReader) throws {
    var (width, height) = (0, 0)
    try EBMLElement.forEach(fields) { identifier, content in
      switch identifier {
      case 0xb0: width = try Self.small(content)
      case 0xba: height = try Self.small(content)
      case 0x54aa, 0x54bb: crop.vertical += try Self.small(content)
      case 0x54cc, 0x54dd: crop.horizontal += try Self.small(content)
      case 0x54b0: display.width = Int64(try Self.small(content))
      case 0x54ba: display.height = Int64(try Self.small(content))
      case 0x54b2: displayUnit = try content.ebmlUnsigned()
      case 0x53c0: hasAlpha = try content.ebmlUnsigned() == 1
      case 0x7670: try readProjection(content)
      default: break
      }
    }
    codedSize = PixelSize(width, height)
  }

  private static func small(_ fields: FieldReader) throws -> Int {
    let value = try fields.ebmlUnsigned()
    guard value <= Int32.max else { throw fields.malformed("a picture's size is too large") }
    return Int(value)
  }

  /// Reads `Projection`: a counterclockwise roll by right angles represents a turned picture.
  private mutating func readProjection(_ fields: FieldReader) throws {
    try EBMLElement.forEach(fields) { identifier, content in
      guard identifier == 0x7675 else { return }
      let turns = try content.ebmlFloat() / 90
      if let whole = Int(exactly: turns.rounded()), abs(turns) <= 4 {
        orientation = PictureOrientation(isMirrored: false, clockwiseQuarterTurns: -whole)
      }
    }
  }

  /// The size as displayed, which the file states in pixels or as an aspect ratio (section 5.1.4.1.28.14).
  var displaySize: PixelSize? {
    guard let coded = codedSize else { return nil }
    let cropped =
      PixelSize(coded.width - crop.horizontal, coded.height - crop.vertical) ?? coded
    var shown = cropped
    if display.width > 0, display.height > 0 {
      shown =
        displayUnit == 0
        ? PixelSize(width: Int(display.width), height: Int(display.height))
        : cropped.stretched(
          display.width * Int64(cropped.height), display.height * Int64(cropped.width))
    }
    return orientation.swapsAxes ? shown.turned : shown
  }

  /// Returns FFmpeg's name of a codec; RFC 9559's companion, draft-ietf-cellar-codec, registers the codecs.
  private static func codec(_ text: String) -> String {
    let names = [
      "V_VP8": "vp8", "V_VP9": "vp9", "V_AV1": "av1", "V_MPEG4/ISO/AVC": "h264",
      "V_MPEGH/ISO/HEVC": "hevc", "V_MPEGI/ISO/VVC": "vvc", "V_THEORA": "theora",
      "V_MJPEG": "mjpeg", "V_FFV1": "ffv1", "V_PRORES": "prores", "V_MPEG2": "mpeg2video",
      "V_MPEG1": "mpeg1video", "A_OPUS": "opus", "A_VORBIS": "vorbis", "A_FLAC": "flac",
      "A_MPEG/L3": "mp3", "A_AC3": "ac3", "A_EAC3": "eac3", "A_ALAC": "alac", "A_DTS": "dts",
    ]
    if let name = names[text] { return name }
    if text.hasPrefix("A_AAC") { return "aac" }
    if text.hasPrefix("A_PCM") { return "pcm" }
    return text.hasPrefix("V_MPEG4/ISO") ? "mpeg4" : text
  }
}
