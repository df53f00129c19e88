/// What of a media file decides how much of it is loaded ahead. `nil` means unknown, never zero.
public struct MediaLoad: Hashable, Sendable {
  /// Whether it moves.
  public var kind: MediaKind
  /// The whole file's size.
  public var bytes: Int?
  /// How long it plays.
  public var durationMilliseconds: Int?
  /// How many of its bytes start it, and play it how far; `nil` where nobody has looked into it.
  public var timing: MediaTiming? {
    get { boxedTiming?.timing }
    set { boxedTiming = newValue.map(BoxedTiming.init) }
  }
  /// One reference, which most files do not have: pages copy what their files cost many times.
  private var boxedTiming: BoxedTiming?

  /// A file of this kind, of which no more need be known.
  public init(
    kind: MediaKind, bytes: Int? = nil, durationMilliseconds: Int? = nil,
    timing: MediaTiming? = nil
  ) {
    self.kind = kind
    self.bytes = bytes
    self.durationMilliseconds = durationMilliseconds
    boxedTiming = timing.map(BoxedTiming.init)
  }

  /// What decides of a file into which somebody has looked.
  ///
  /// - Parameter kind: what the origin says that it is.
  public init(_ truth: MediaTruth, kind: MediaKind) {
    let moves: MediaKind? =
      switch truth.kind {
      case .image, .animation: .image
      case .video: .video
      case .sound: nil
      }
    self.init(
      kind: moves ?? kind, bytes: truth.bytes, durationMilliseconds: truth.durationMilliseconds,
      timing: truth.start)
  }

  /// What decides of this file.
  public init(_ media: Media) {
    self.init(
      kind: media.kind, bytes: media.bytes, durationMilliseconds: media.durationMilliseconds)
  }
}

extension MediaLoad: Codable {
  private enum CodingKeys: CodingKey {
    case kind, bytes, durationMilliseconds, timing
  }

  /// What `encode(to:)` wrote.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      kind: try values.decode(MediaKind.self, forKey: .kind),
      bytes: try values.decodeIfPresent(Int.self, forKey: .bytes),
      durationMilliseconds: try values.decodeIfPresent(Int.self, forKey: .durationMilliseconds),
      timing: try values.decodeIfPresent(MediaTiming.self, forKey: .timing))
  }

  /// Its members; what is unknown is left out.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(kind, forKey: .kind)
    try values.encodeIfPresent(bytes, forKey: .bytes)
    try values.encodeIfPresent(durationMilliseconds, forKey: .durationMilliseconds)
    try values.encodeIfPresent(timing, forKey: .timing)
  }
}

private final class BoxedTiming: Hashable, Sendable {
  let timing: MediaTiming

  init(_ timing: MediaTiming) { self.timing = timing }

  static func == (left: BoxedTiming, right: BoxedTiming) -> Bool { left.timing == right.timing }
  func hash(into hasher: inout Hasher) { hasher.combine(timing) }
}
