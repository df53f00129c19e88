/// Facts that a probe found about one version of a media file; they hold as long as the file has that
/// version. `nil` and empty lists mean unknown, never zero.
public struct MediaTruth: Hashable, Sendable {
  /// The kind of content of a file.
  public enum Kind: String, CaseIterable, Sendable {
    /// One still picture.
    case image
    /// Several pictures without sound, in an image format.
    case animation
    /// Moving pictures, with or without sound.
    case video
    /// Only sound.
    case sound
  }

  /// The kind, from the file's content.
  public var kind: Kind
  /// The size of the whole file.
  public var bytes: Int
  /// The media type for `Content-Type`, from the file's content: `video/mp4`.
  @ByBytes public var mimeType: String
  /// The codec of the pictures, in FFmpeg's notation: `h264`.
  @ByBytes public var codec: String?
  /// The codec of the sound: `aac`.
  @ByBytes public var soundCodec: String?
  /// Whether the file has sound.
  public var hasSound: Bool?
  /// Width as displayed, in pixels: after rotation, and with square pixels.
  public var width: Int?
  /// Height as displayed, in pixels.
  public var height: Int?
  /// The number of pictures.
  public var frameCount: Int?
  /// The duration in milliseconds, rounded up.
  public var durationMilliseconds: Int?
  /// Whether pictures or sound are encrypted: playback needs a key, and their look is unknown.
  public var isEncrypted = false
  /// The program that was missing when the file was probed. Without it the file could not be decoded: it
  /// may be broken, and its look is unknown or incomplete.
  public var missingDecoder: MissingDecoder?
  /// The placeholder that is shown until the file has loaded.
  public var placeholder: MediaPlaceholder?
  /// The numbers of bytes that the file needs to start and to play on.
  public var start: MediaTiming?
  /// The version of the file for which all this holds.
  public var version: MediaVersion?
  /// Other files with the same content in fewer bytes, ordered by size; each has its own version and no
  /// variants. They are separate files and not part of a version's facts, so a probe reports none, and
  /// stores keep them by the file's URL.
  public var variants: [MediaVariant]
}

extension MediaTruth {
  /// Creates the facts of a file; only kind, size and media type are required.
  public init(
    kind: Kind, bytes: Int, mimeType: String, codec: String? = nil, soundCodec: String? = nil,
    hasSound: Bool? = nil, width: Int? = nil, height: Int? = nil, frameCount: Int? = nil,
    durationMilliseconds: Int? = nil, placeholder: MediaPlaceholder? = nil,
    start: MediaTiming? = nil, version: MediaVersion? = nil, variants: [MediaVariant] = []
  ) {
    // By the initializer of all fields: set one by one, the whole value would be copied at the end.
    self.init(
      kind: kind, bytes: bytes, mimeType: mimeType, codec: codec, soundCodec: soundCodec,
      hasSound: hasSound, width: width, height: height, frameCount: frameCount,
      durationMilliseconds: durationMilliseconds, isEncrypted: false, missingDecoder: nil,
      placeholder: placeholder, start: start, version: version, variants: variants)
  }

  /// The facts of a file that is gone or broken: there is nothing to load.
  public static let unavailable = MediaTruth(
    kind: .image, bytes: 0, mimeType: "application/octet-stream", version: .unavailable)

  /// Whether the file is known to be gone or broken. Then only its record describes it.
  public var isUnavailable: Bool { version == .unavailable }

  /// A copy without variants: the facts of the version alone.
  public var alone: MediaTruth {
    var truth = self
    truth.variants = []
    return truth
  }
}

extension MediaTruth {
  /// The first field that is impossible or beyond a limit, and the reason; `nil` if there is none. A value
  /// without a problem is read back as it was written (`PostJSON`).
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
    // Checked after the size, which bounds it.
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

/// A program that was missing when a file was probed: once it is installed, a probe finds more.
public enum MissingDecoder: String, CaseIterable, Hashable, Sendable {
  /// Decodes everything except HEIC and transparency of the HEIF family (FFmpeg).
  case ffmpeg
  /// Decodes AVIF, HEIC and HEIF completely (libheif).
  case heifConvert = "heif-convert"
}

/// A file with the same content as another one in fewer bytes: narrower, or in another encoding.
public struct MediaVariant: Hashable, Sendable {
  /// The URL of the file.
  @ByBytes public var url: String
  /// The facts about it.
  public var truth: MediaTruth

  /// The maximum number of variants of a file.
  public static let limit = 16

  /// Creates the variant at a URL.
  public init(url: String, truth: MediaTruth) {
    self.url = url
    self.truth = truth
  }

  /// The reason why these cannot be the variants of one file; `nil` if they can.
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
