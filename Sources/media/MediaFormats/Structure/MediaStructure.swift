// `MediaFormats` reads what lies in a file, over a `ByteSource`: a file, or a URL by ranges. It
// looks at the content alone, decodes nothing, asks for few pieces, and every count and size that
// a file says is held against `MediaLimits` and the file's own length before anything rests on it.
// `MediaStructure(reading:)` asks `MediaType` what it is and hands it to the reader of that
// format. What needs bytes becomes a step, (time, end of the bytes that are needed by then),
// whatever the format: `StartMeter` makes `headBytes`, `curve` and `lead` of all steps. A sample
// needs the largest end of all that its track decodes before it, which covers reordered frames and
// edits that begin between key frames; frames that a decoder passes over behind an open group's
// key frame (`KeyFrame`) are no steps. `DecoderTests` hold that against FFmpeg: given the head it
// decodes the first frame and the sound of that moment, given 5 % less it does not.
// `FaststartPlan` says how a file is written with its tables in front.
//
// - tables: what a player must have before it plays anything: `moov`, Matroska's head.
// - layout: where they lie: in front, behind, in each fragment (`MediaStructure.Layout`).
// - step: from this time on, bytes up to this end are needed (`StartMeter`).
// - head, curve, lead: to the first frame; to a time; before playback at a bandwidth
//   (`MediaStart`).
// - flaw, error: something could be said of the file all the same; nothing could (`FormatError`).

/// What a media file's structure says of it: nothing is decoded, and nothing of the file's name is believed.
package struct MediaStructure: Sendable, Hashable {
  /// What a file is to whoever looks at it.
  package enum Kind: String, Sendable, Hashable {
    /// One picture that does not move.
    case image
    /// Several pictures without sound, in an image format: GIF, APNG, WebP, AVIF.
    case animation
    /// Moving pictures, with or without sound.
    case video
    /// Sound alone; a cover does not make a video of it.
    case sound
  }

  /// Where what is needed for playing lies in the file.
  package enum Layout: String, Sendable, Hashable {
    /// An MP4 or MOV file whose tables come before the media data.
    case tablesInFront
    /// One whose tables come behind the media data: it cannot start before nearly all is there. It can be
    /// mended without loss (`FaststartPlan`).
    case tablesBehind
    /// One of fragments, each with its tables in front.
    case fragmented
    /// Any other format: it is read from front to back.
    case stream
  }

  /// What is not as it should be, though something could be said of the file.
  package enum Flaw: Sendable, Hashable {
    /// The file ends before the media data do that it says it has, which end at the offset `neededBytes`, or
    /// behind it where that is not written down. What is said holds for the part that is there.
    case cutShort(neededBytes: Int64)
  }

  /// The type of the format, by its content. One that may hold either sound or pictures is said to hold
  /// pictures, as its brand does; `kind` says what it holds.
  package let type: MediaType
  /// What it is to whoever looks at it.
  package let kind: Kind
  /// The file's size.
  package let bytes: Int64
  /// The size of the pictures as they are coded; nil for sound.
  package let codedSize: PixelSize?
  /// The size as displayed: turned, cropped and with square pixels.
  package let displaySize: PixelSize?
  /// How the coded picture is to be turned.
  package let orientation: PictureOrientation
  /// Whether a part of it may be transparent.
  package let hasAlpha: Bool
  /// How many frames its pictures have; nil for sound and where it is not written down.
  package let frameCount: Int?
  /// How long it plays, in milliseconds, rounded up; nil for an image and where it is not written down.
  package let durationMilliseconds: Int64?
  /// The codec of its pictures, as FFmpeg calls it (`h264`, `hevc`, `vp9`, `av1`), or else the file's own
  /// code for it.
  package let videoCodec: String?
  /// The codec of its sound (`aac`, `opus`, `mp3`, `flac`); `pcm` where it is not compressed, and not written
  /// down in one place how.
  package let audioCodec: String?
  /// Where what is needed for playing lies.
  package let layout: Layout
  /// How many bytes start it, and play it how far.
  package let start: MediaStart
  /// What is wrong with it.
  package let flaws: [Flaw]
  /// Whether its pictures or its sound are encrypted: nothing is decoded of them without a key.
  package internal(set) var isEncrypted = false

  /// Whether it has sound.
  package var hasSound: Bool { audioCodec != nil }
}

extension MediaStructure {
  /// The same of a picture that is upright as it is stored, whatever it says of itself.
  package var shownAsStored: MediaStructure {
    MediaStructure(
      type: type, kind: kind, bytes: bytes, codedSize: codedSize, displaySize: codedSize,
      orientation: .upright, hasAlpha: hasAlpha, frameCount: frameCount,
      durationMilliseconds: durationMilliseconds, videoCodec: videoCodec, audioCodec: audioCodec,
      layout: layout, start: start, flaws: flaws)
  }
}

extension MediaStructure {
  /// Reads what a file's structure says, by its content alone.
  ///
  /// Of a video with its tables in front little more than the tables is read, of one with its tables behind
  /// its head and the tables; images, and streams without tables, are walked through.
  ///
  /// - Throws: `FormatError` where there is nothing to say, and whatever the source throws.
  package init(reading source: some ByteSource, limits: MediaLimits = MediaLimits()) throws {
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
        type == .unknown ? .unknownFormat : .unsupported("the file has type \(type.value)"),
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
