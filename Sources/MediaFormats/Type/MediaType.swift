/// What a file is, told from its content: the value of its `Content-Type` (RFC 9110 section 8.3)
/// and whether a browser may show it.
public struct MediaType: Sendable, Hashable {
  /// How many bytes of a file are enough to tell: a page of the file, and more than the 1445 that
  /// WHATWG MIME Sniffing section 5.2 asks for.
  public static let headBytes = 4096

  /// Anything that is not known to be passive (RFC 2046 section 4.5.1).
  public static let unknown = MediaType(value: "application/octet-stream", isPassive: false)

  /// An image that may run scripts: never told by the first bytes alone, as other markup begins like it, and
  /// not to be shown by a browser as a file of its own.
  static let svg = MediaType(value: "image/svg+xml", isPassive: false)

  /// The type and subtype, `video/mp4`.
  public let value: String
  /// Whether it is an image, sound, film, playlist or subtitles: something that runs no script
  /// wherever a browser opens it. Everything else is to be sent as an attachment (RFC 6266), and
  /// both with `X-Content-Type-Options: nosniff`, so that no browser takes it for something else.
  public let isPassive: Bool

  /// The type of a file that begins with `head`: its first `headBytes` bytes, or all it has.
  ///
  /// The content decides. The extension of `name` is looked at only where the content leaves it
  /// open which type of one family it is, for example whether an MP4 file has only sound; it never
  /// makes a passive file of another.
  public init(head: [UInt8], name: String) {
    let head = MediaHead(head)
    let name = MediaName(name)
    self =
      head.beginsLikeMarkup
      ? .unknown
      : Self.image(head) ?? Self.isoMedia(head, name) ?? Self.quickTime(head, name)
        ?? Self.matroska(head, name) ?? Self.ogg(head, name) ?? Self.sound(head, name)
        ?? Self.transportStream(head) ?? Self.text(head) ?? .unknown
  }

  /// A type that is passive.
  static func passive(_ value: String) -> MediaType { MediaType(value: value, isPassive: true) }

  private init(value: String, isPassive: Bool) {
    self.value = value
    self.isPassive = isPassive
  }
}
