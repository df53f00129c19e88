// `MediaFormats` parses the content of a file through a `ByteSource`: a file, or a URL by ranges. It decodes
// nothing, requests few pieces, and checks every count and size in a file against `MediaLimits` and the
// file's length before it uses them. `MediaStructure(reading:)` determines the `MediaType` and passes the
// file to the reader of that format. In every format, data that need bytes become steps: (time, end of the
// bytes needed by then). `StartMeter` computes `headBytes`, `curve` and `lead` from all steps. A sample needs
// the largest end among all samples that its track decodes before it, which covers reordered frames and edits
// that begin between key frames. Frames that a decoder skips after the key frame of an open group
// (`KeyFrame`) are no steps. `DecoderTests` check the results with FFmpeg: given the head, it decodes the
// first frame and the sound of that moment; given 5 % less, it does not. `FaststartPlan` describes how to
// rewrite a file with its tables in front.
//
// - tables: what a player must have before it plays anything: `moov`, Matroska's head.
// - layout: the position of the tables: in front, behind, in each fragment (`MediaStructure.Layout`).
// - step: from this time on, bytes up to this end are needed (`StartMeter`).
// - head, curve, lead: the bytes to the first frame; to a time; before playback at a bandwidth (`MediaStart`).
// - flaw, error: a flawed file still has a known structure; after an error nothing is known (`FormatError`).

/// The structure of a media file. It is read without decoding, and without relying on the file's name.
package struct MediaStructure: Sendable, Hashable {
  /// The kind of a file for a viewer.
  package enum Kind: String, Sendable, Hashable {
    /// One still picture.
    case image
    /// Several pictures without sound, in an image format: GIF, APNG, WebP, AVIF.
    case animation
    /// Moving pictures, with or without sound.
    case video
    /// Sound alone; a cover does not make it a video.
    case sound
  }

  /// The position of the tables that playback requires.
  package enum Layout: String, Sendable, Hashable {
    /// An MP4 or MOV file whose tables come before the media data.
    case tablesInFront
    /// An MP4 or MOV file whose tables follow the media data: it cannot start before nearly all of it has
    /// arrived. `FaststartPlan` repairs it without loss.
    case tablesBehind
    /// A file with fragments, each with its tables in front.
    case fragmented
    /// Any other format, which is read from front to back.
    case stream
  }

  /// A defect of a file whose structure is known nonetheless.
  package enum Flaw: Sendable, Hashable {
    /// The file ends before its declared media data, which end at the offset `neededBytes`, or after it if
    /// the end is not declared. All properties describe the part that is present.
    case cutShort(neededBytes: Int64)
  }

  /// The type of the format, by its content. A type that may contain either sound or pictures is named for
  /// pictures, as its brand is; `kind` has the actual content.
  package let type: MediaType
  /// The kind for a viewer.
  package let kind: Kind
  /// The file's size.
  package let bytes: Int64
  /// The coded size of the pictures; nil for sound.
  package let codedSize: PixelSize?
  /// The size as displayed: turned, cropped, and with square pixels.
  package let displaySize: PixelSize?
  /// The orientation of the coded picture.
  package let orientation: PictureOrientation
  /// Whether parts may be transparent.
  package let hasAlpha: Bool
  /// The number of frames; nil for sound, and if the file does not contain it.
  package let frameCount: Int?
  /// The duration in milliseconds, rounded up; nil for an image, and if the file does not contain it.
  package let durationMilliseconds: Int64?
  /// FFmpeg's name of the pictures' codec (`h264`, `hevc`, `vp9`, `av1`), or else the file's own code.
  package let videoCodec: String?
  /// The codec of the sound (`aac`, `opus`, `mp3`, `flac`); `pcm` for uncompressed sound whose form is
  /// stated in several places.
  package let audioCodec: String?
  /// The position of the tables that playback requires.
  package let layout: Layout
  /// The number of bytes that start the file, and that play it up to certain times.
  package let start: MediaStart
  /// The defects of the file.
  package let flaws: [Flaw]
  /// Whether pictures or sound are encrypted, so that they cannot be decoded without a key.
  package internal(set) var isEncrypted = false

  /// Whether the file has sound.
  package var hasSound: Bool { audioCodec != nil }
}

extension MediaStructure {
  /// The structure with the orientation ignored: upright, in the coded size.
  package var shownAsStored: MediaStructure {
    MediaStructure(
      type: type, kind: kind, bytes: bytes, codedSize: codedSize, displaySize: codedSize,
      orientation: .upright, hasAlpha: hasAlpha, frameCount: frameCount,
      durationMilliseconds: durationMilliseconds, videoCodec: videoCodec, audioCodec: audioCodec,
      layout: layout, start: start, flaws: flaws)
  }
}

extension MediaStructure {
  /// Reads a file's structure from its content alone.
  ///
  /// For a video with its tables in front, it reads little more than the tables; with its tables behind, the
  /// head and the tables. It visits all parts of images, and of streams without tables.
  ///
  /// - Throws: `FormatError` if the structure cannot be read, and whatever the source throws.
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
  /// Creates the structure of an image or animation.
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
  /// Creates the structure of sound without tables.
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
