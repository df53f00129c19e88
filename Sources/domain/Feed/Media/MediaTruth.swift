/// What is known of one version of a media file because somebody looked into it: found once, and true for
/// as long as the file has that version. `nil` and empty lists mean unknown, never zero.
public struct MediaTruth: Hashable, Sendable {
  /// What a file is to whoever looks at it.
  public enum Kind: String, CaseIterable, Sendable {
    /// One picture that does not move.
    case image
    /// Several pictures without sound, in an image format.
    case animation
    /// Moving pictures, with or without sound.
    case video
    /// Sound alone.
    case sound
  }

  /// What it is, by its content.
  public var kind: Kind
  /// The whole file's size.
  public var bytes: Int
  /// The value of its `Content-Type`, by its content: `video/mp4`.
  @ByBytes public var mimeType: String
  /// The codec of its pictures, as FFmpeg calls it: `h264`.
  @ByBytes public var codec: String?
  /// The codec of its sound: `aac`.
  @ByBytes public var soundCodec: String?
  /// Whether there is something to hear.
  public var hasSound: Bool?
  /// Width as displayed, in pixels: turned as the file says, and with square pixels.
  public var width: Int?
  /// Height as displayed, in pixels.
  public var height: Int?
  /// How many pictures it shows.
  public var frameCount: Int?
  /// How long it plays, rounded up.
  public var durationMilliseconds: Int?
  /// Whether its pictures or its sound are encrypted: it takes a key to show it, and its look is unknown.
  public var isEncrypted = false
  /// The program without which it could not be tried: it may be broken, and how it looks is not known, or not
  /// all of it.
  public var missingDecoder: MissingDecoder?
  /// What shows before anything of it is there.
  public var placeholder: MediaPlaceholder?
  /// How many of its bytes start it, and play it how far.
  public var start: MediaTiming?
  /// Which version of the file all this is true of.
  public var version: MediaVersion?
  /// Other files that show the same in fewer bytes, in the order of their sizes: each with a version of its
  /// own and no variants. They lie beside a file and are no part of what its version says, so a probe tells
  /// of none, and stores keep them by the file's URL.
  public var variants: [MediaVariant]

  /// A file of which no more is known than what it is and how large.
  public init(
    kind: Kind, bytes: Int, mimeType: String, codec: String? = nil, soundCodec: String? = nil,
    hasSound: Bool? = nil, width: Int? = nil, height: Int? = nil, frameCount: Int? = nil,
    durationMilliseconds: Int? = nil, placeholder: MediaPlaceholder? = nil,
    start: MediaTiming? = nil, version: MediaVersion? = nil, variants: [MediaVariant] = []
  ) {
    self.kind = kind
    self.bytes = bytes
    self.mimeType = mimeType
    self.codec = codec
    self.soundCodec = soundCodec
    self.hasSound = hasSound
    self.width = width
    self.height = height
    self.frameCount = frameCount
    self.durationMilliseconds = durationMilliseconds
    self.placeholder = placeholder
    self.start = start
    self.version = version
    self.variants = variants
  }

  /// What is known of a file that is gone or broken: that there is nothing of it to load.
  public static let unavailable = MediaTruth(
    kind: .image, bytes: 0, mimeType: "application/octet-stream", version: .unavailable)

  /// Whether the file is known to be gone or broken. What its record says of it is all that there is to say.
  public var isUnavailable: Bool { version == .unavailable }

  /// The same without its variants: what is true of the version alone.
  public var alone: MediaTruth {
    var truth = self
    truth.variants = []
    return truth
  }
}

extension MediaTruth {
  /// Why this cannot be true of any file, or is beyond what is kept, and in which field; `nil` where it can.
  /// What has no problem is read back as it was written (`PostJSON`).
  public var problem: (field: String, words: String)? {
    let numbers: [(String, Int?, ClosedRange<Int>)] = [
      ("bytes", bytes, 0...RecordLimits.fileBytes),
      ("width", width, 1...RecordLimits.pixels), ("height", height, 1...RecordLimits.pixels),
      ("frames", frameCount, 1...RecordLimits.number),
      ("durationMs", durationMilliseconds, 0...RecordLimits.number),
    ]
    for (field, number, range) in numbers {
      guard let number, !range.contains(number) else { continue }
      return (field, "\(number) is not in \(range.lowerBound)…\(range.upperBound)")
    }
    // Behind that of the size, in which it lies.
    if let (field, words) = start?.problem(fileBytes: bytes) { return (field, words) }
    let times =
      (start?.curve ?? []).map(\.milliseconds) + (start?.lead ?? []).map(\.kilobitsPerSecond)
    if let time = times.first(where: { !(0...RecordLimits.number).contains($0) }) {
      return ("start", "\(time) is not in 0…\(RecordLimits.number)")
    }
    for (field, text) in [("mimeType", mimeType), ("codec", codec), ("soundCodec", soundCodec)] {
      guard let text else { continue }
      if let words = Self.problem(ofName: text, bytes: RecordLimits.mediaTypeBytes) {
        return (field, words)
      }
    }
    if soundCodec != nil, hasSound != true {
      return ("hasSound", "is not true, but there is a soundCodec")
    }
    if let hash = placeholder?.thumbHash, !MediaPlaceholder.thumbHashBytes.contains(hash.count) {
      return ("thumbhash", "has \(hash.count) bytes")
    }
    if placeholder?.isWhole == false { return ("placeholder", "has no thumbhash or no color") }
    if let version, MediaVersion(text: version.text) != version {
      return ("version", "is not a digest of 32 bytes or an entity tag, or is too long")
    }
    return nil
  }

  private static func problem(ofName text: String, bytes: Int) -> String? {
    if text.isEmpty { return "is empty" }
    if text.utf8.count > bytes { return "has \(text.utf8.count) bytes, more than \(bytes)" }
    return text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } ? nil : "contains a control character"
  }
}

/// A program that was not there as a file was looked into: once it is, more can be told of the file.
public enum MissingDecoder: String, CaseIterable, Hashable, Sendable {
  /// Decodes everything but HEIC and transparency of the HEIF family (FFmpeg).
  case ffmpeg
  /// Decodes AVIF, HEIC and HEIF whole (libheif).
  case heifConvert = "heif-convert"
}

/// A file that shows the same as another one, in fewer bytes: narrower, or coded otherwise.
public struct MediaVariant: Hashable, Sendable {
  /// Where to load it.
  @ByBytes public var url: String
  /// What is known of it.
  public var truth: MediaTruth

  /// How many a file has at the most.
  public static let limit = 16

  /// The variant at a URL.
  public init(url: String, truth: MediaTruth) {
    self.url = url
    self.truth = truth
  }

  /// Why these cannot be the variants of one file; `nil` where they can.
  public static func problem(_ variants: [MediaVariant]) -> String? {
    if variants.count > limit { return "are more than \(limit): \(variants.count)" }
    for variant in variants {
      if variant.url.isEmpty || variant.url.utf8.count > RecordLimits.urlBytes {
        return "have a URL of \(variant.url.utf8.count) bytes, not 1 to \(RecordLimits.urlBytes)"
      }
      if !variant.truth.variants.isEmpty { return "have variants themselves" }
      if variant.truth.version == nil { return "have no version" }
      if let (field, words) = variant.truth.problem {
        return "have an invalid field: \(field) \(words)"
      }
    }
    let sizes = variants.map(\.truth.bytes)
    return zip(sizes, sizes.dropFirst()).allSatisfy { $0 <= $1 }
      ? nil : "are not in order of size"
  }
}
