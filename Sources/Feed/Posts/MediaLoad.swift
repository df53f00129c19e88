/// What of a media file decides how much of it is loaded ahead. `nil` means unknown, never zero.
public struct MediaLoad: Hashable, Sendable {
  /// Whether it moves.
  public var kind: MediaKind
  /// The whole file's size.
  public var bytes: Int?
  /// How long it plays.
  public var durationMilliseconds: Int?

  /// A file of this kind, of which no more need be known.
  public init(kind: MediaKind, bytes: Int? = nil, durationMilliseconds: Int? = nil) {
    self.kind = kind
    self.bytes = bytes
    self.durationMilliseconds = durationMilliseconds
  }

  /// What decides of this file.
  public init(_ media: Media) {
    self.init(
      kind: media.kind, bytes: media.bytes, durationMilliseconds: media.durationMilliseconds)
  }
}
