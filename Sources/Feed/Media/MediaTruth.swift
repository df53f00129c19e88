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
  /// Whether its pictures or its sound are encrypted: it takes a key to show it, and nobody knows how it looks.
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
