/// The encoding of a track's samples (ISO/IEC 14496-12 section 8.5.2): the first entry of its `stsd` box.
struct SampleEntry {
  /// FFmpeg's name of the codec, or else the entry's own code.
  private(set) var codec: String
  /// For pictures: the coded size, if known.
  private(set) var codedSize: PixelSize?
  /// For pictures: the ratio of a pixel's width to its height.
  private(set) var pixelAspect: (horizontal: Int64, vertical: Int64) = (1, 1)
  /// For H.264 and HEVC: the number of bytes in the length field of each part of a sample.
  private(set) var lengthBytes: Int?
  let isSound: Bool
  /// Whether some samples are encrypted (ISO/IEC 23001-7); `codec` is the codec below the encryption.
  private(set) var isEncrypted: Bool
  /// For sound in QuickTime's form: the samples and bytes of a packet.
  private(set) var soundPacket: (samples: Int, bytes: Int)?

  /// Reads an `stsd` box of a track with pictures or sound; nil if it has no entry.
  init?(_ fields: FieldReader, isPicture: Bool) throws {
    var fields = fields
    _ = try fields.fullBox()
    guard try fields.unsigned32() > 0 else { return nil }
    let end = fields.position + Int64(fields.remaining)
    let box = try Box.read(&fields, containerEnd: end)
    let place = "\(fields.place)/\(box.name)"
    guard box.end <= end else {
      throw fields.malformed("its first entry ends at byte \(box.end), after the end of the box")
    }
    var entry = try fields.part(Int(box.contentBytes), in: place)
    isSound = !isPicture
    codec = Self.codec(box.name)
    isEncrypted = box.name == "encv" || box.name == "enca"
    if isPicture { try readPicture(&entry) } else { try readSound(&entry) }
  }

  /// Reads a `VisualSampleEntry` (section 12.1.3).
  private mutating func readPicture(_ fields: inout FieldReader) throws {
    try fields.skip(24)
    codedSize = PixelSize(try fields.unsigned16(), try fields.unsigned16())
    try fields.skip(50)
    try BoxContent(fields).forEach { name, content in
      var content = content
      switch name {
      case "pasp":
        let (horizontal, vertical) = (try content.unsigned32(), try content.unsigned32())
        if horizontal > 0, vertical > 0 { pixelAspect = (Int64(horizontal), Int64(vertical)) }
      case "avcC":
        try content.skip(4)
        lengthBytes = Int(try content.byte() & 3) + 1
      case "hvcC":
        try content.skip(21)
        lengthBytes = Int(try content.byte() & 3) + 1
      case "sinf": try readOriginal(content)
      default: break
      }
    }
  }

  /// Reads an `AudioSampleEntry` (section 12.2.3), or one of QuickTime's two longer versions.
  private mutating func readSound(_ fields: inout FieldReader) throws {
    try fields.skip(8)
    let version = try fields.unsigned16()
    try fields.skip(6)
    let channels = try fields.unsigned16()
    let bits = try fields.unsigned16()
    try fields.skip(8)
    if codec.hasPrefix("pcm"), channels > 0, bits >= 8 {
      // For μ-law and A-law, `bits` is 16, but a sample takes one byte.
      let sampleBytes = ["pcm_mulaw", "pcm_alaw"].contains(codec) ? 1 : bits / 8
      soundPacket = (1, channels * sampleBytes)
    }
    if codec == "pcm_s16le" || codec == "pcm_s16be", bits == 8 { codec = "pcm_s8" }
    if version == 1 {
      // The samples of a packet, then the bytes of a packet of one channel, of a packet of all, and of a sample.
      let samples = Int(try fields.unsigned32())
      try fields.skip(4)
      let bytes = Int(try fields.unsigned32())
      try fields.skip(4)
      if (1...65_536).contains(samples), (1...65_536).contains(bytes) {
        soundPacket = (samples, bytes)
      }
    }
    if version == 2 {
      try fields.skip(28)
      let (bytes, samples) = (Int(try fields.unsigned32()), Int(try fields.unsigned32()))
      if (1...65_536).contains(samples), (1...65_536).contains(bytes) {
        soundPacket = (samples, bytes)
      }
    }
    try BoxContent(fields).forEach { name, content in
      switch name {
      case "esds": try readDescriptor(content)
      case "wave":
        if let descriptor = try BoxContent(content).first("esds") {
          try readDescriptor(descriptor)
        }
      case "sinf": try readOriginal(content)
      default: break
      }
    }
  }

  /// Reads the original format of an encrypted entry (section 8.12.2).
  private mutating func readOriginal(_ fields: FieldReader) throws {
    isEncrypted = true
    guard var original = try BoxContent(fields).first("frma") else { return }
    codec = Self.codec(try original.code())
  }

  /// Reads the object type of an elementary stream descriptor (ISO/IEC 14496-1 section
  /// 7.2.6): `mp4a` may be MP3.
  private mutating func readDescriptor(_ fields: FieldReader) throws {
    var fields = fields
    _ = try fields.fullBox()
    guard try Self.descriptor(&fields) == 3 else { return }
    try fields.skip(2)
    let flags = try fields.byte()
    if flags & 0x80 != 0 { try fields.skip(2) }
    if flags & 0x40 != 0 { try fields.skip(Int(try fields.byte())) }
    if flags & 0x20 != 0 { try fields.skip(2) }
    guard try Self.descriptor(&fields) == 4 else { return }
    switch try fields.byte() {
    case 0x69, 0x6b: codec = "mp3"
    case 0xad: codec = "opus"
    case 0xdd: codec = "vorbis"
    default: break
    }
  }

  /// Returns a descriptor's tag and skips its size, which has seven bits per byte.
  private static func descriptor(_ fields: inout FieldReader) throws -> UInt8 {
    let tag = try fields.byte()
    for _ in 0..<4 {
      if try fields.byte() & 0x80 == 0 { break }
    }
    return tag
  }

  /// Returns FFmpeg's name of a code; mp4ra.org registers the codes.
  private static func codec(_ code: FourCC) -> String {
    switch code {
    case "avc1", "avc2", "avc3", "avc4", "dva1", "dvav": "h264"
    case "hvc1", "hev1", "hvc2", "hev2", "dvh1", "dvhe": "hevc"
    case "vvc1", "vvi1": "vvc"
    case "av01", "dav1": "av1"
    case "vp08": "vp8"
    case "vp09": "vp9"
    case "mp4v": "mpeg4"
    case "s263", "h263": "h263"
    case "jpeg", "mjpa", "mjpb": "mjpeg"
    case "apch", "apcn", "apcs", "apco", "ap4h", "ap4x": "prores"
    case "mp4a": "aac"
    case ".mp3", "mp3 ": "mp3"
    case "Opus": "opus"
    case "fLaC": "flac"
    case "ac-3": "ac3"
    case "ec-3": "eac3"
    case "alac": "alac"
    case "samr": "amr_nb"
    case "sawb": "amr_wb"
    case "sowt": "pcm_s16le"
    case "twos": "pcm_s16be"
    case "ulaw": "pcm_mulaw"
    case "alaw": "pcm_alaw"
    case "ima4": "adpcm_ima_qt"
    // Their byte order is stated elsewhere.
    case "lpcm", "ipcm", "fpcm", "in24", "in32", "fl32", "fl64", "raw ": "pcm"
    default: code.description
    }
  }
}
