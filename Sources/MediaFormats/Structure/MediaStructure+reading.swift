extension MediaStructure {
  /// Reads what a file's structure says, by its content alone.
  ///
  /// Of a video with its tables in front little more than the tables is read, of one with its tables behind
  /// its head and the tables; images, and streams without tables, are walked through.
  ///
  /// - Throws: `FormatError` where there is nothing to say, and whatever the source throws.
  public init(reading source: some ByteSource, limits: MediaLimits = MediaLimits()) throws {
    let reader = ByteReader(source, limits)
    guard reader.size > 0 else { throw FormatError(.empty, at: 0, in: "") }
    let head = Array(try reader.available(at: 0, upTo: MediaType.headBytes, in: "head"))
    let type = MediaType(head: head, name: "")
    if type == .unknown, MediaHead(head).beginsLikeMarkup,
      let image = try SVG.structure(reader)
    {
      self = image
      return
    }
    guard let read = Self.reading(of: type) else {
      throw FormatError(
        type == .unknown ? .unknownFormat : .unsupported("the file is of the type \(type.value)"),
        at: 0, in: "")
    }
    self = try read(reader, type)
  }

  private typealias Reading = (ByteReader, MediaType) throws -> MediaStructure

  private static func reading(of type: MediaType) -> Reading? {
    switch type.value {
    case "image/jpeg": JPEG.structure
    case "image/png": PNG.structure
    case "image/gif": GIF.structure
    case "image/webp": WebP.structure
    case "image/bmp": Bitmap.structure
    case "image/avif", "image/heic", "image/heif": ItemImage.structure
    case "image/heic-sequence", "image/heif-sequence": MovieFile.structure
    case "video/mp4", "audio/mp4", "video/quicktime", "video/3gpp", "video/3gpp2":
      MovieFile.structure
    case "audio/mpeg": MPEGSound.mp3
    case "audio/aac": MPEGSound.aac
    case "audio/wav": WAV.structure
    case "audio/flac": FLAC.structure
    case "audio/ogg", "video/ogg", "application/ogg": Ogg.structure
    case "video/webm", "audio/webm", "video/matroska", "audio/matroska": MatroskaFile.structure
    default: nil
    }
  }
}

extension MediaStructure {
  /// An image or animation.
  init(
    image type: MediaType, kind: Kind = .image, bytes: Int64, codedSize: PixelSize,
    displaySize: PixelSize? = nil, orientation: PictureOrientation = .upright,
    hasAlpha: Bool = false, frameCount: Int? = 1, durationMilliseconds: Int64? = nil,
    codec: String, start: MediaStart, flaws: [Flaw] = []
  ) {
    self.init(
      type: type, kind: kind, bytes: bytes, codedSize: codedSize,
      displaySize: displaySize ?? (orientation.swapsAxes ? codedSize.turned : codedSize),
      orientation: orientation, hasAlpha: hasAlpha, frameCount: frameCount,
      durationMilliseconds: durationMilliseconds, videoCodec: codec, audioCodec: nil,
      layout: .stream, start: start, flaws: flaws)
  }
}

extension MediaStructure {
  /// Sound alone, without tables.
  init(
    sound type: MediaType, bytes: Int64, codec: String, start: MediaStart,
    durationMilliseconds: Int64?, flaws: [Flaw] = []
  ) {
    self.init(
      type: type, kind: .sound, bytes: bytes, codedSize: nil, displaySize: nil,
      orientation: .upright, hasAlpha: false, frameCount: nil,
      durationMilliseconds: durationMilliseconds, videoCodec: nil, audioCodec: codec,
      layout: .stream, start: start, flaws: flaws)
  }
}
