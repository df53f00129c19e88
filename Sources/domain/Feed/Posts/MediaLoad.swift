/// The properties of a media file that decide how much of it a client loads ahead. `nil` means unknown,
/// never zero.
public struct MediaLoad: Hashable, Sendable {
  /// The kind of file.
  public var kind: MediaKind
  /// The size of the whole file.
  public var bytes: Int?
  /// The duration in milliseconds.
  public var durationMilliseconds: Int?
  /// The numbers of bytes that the file needs to start and to play on; `nil` if it was not probed.
  public var timing: MediaTiming? {
    get { known?.timing }
    set { detail = Detail(timing: newValue, width: width, variants: variants) }
  }
  /// Calls `body` with `timing`, if there is one, without a copy of its lists.
  @inlinable @discardableResult
  public func withTiming<Result>(_ body: (borrowing MediaTiming) -> Result) -> Result? {
    known?.withTiming(body)
  }
  /// Width as displayed, in pixels; `nil` if it is unknown or no choice depends on it.
  public var width: Int? { known?.width }
  /// Other files with the same content in fewer bytes, ordered by size.
  public var variants: [MediaLoad] { known?.variants ?? [] }
  /// Whether there are variants; cheaper than `variants`.
  @inlinable public var hasVariants: Bool { known?.variants.isEmpty == false }
  /// A single reference, absent for most files, because pages copy their files many times.
  /// `@usableFromInline` shows other modules that it is one reference; otherwise they would look up at run
  /// time how to copy it.
  @usableFromInline var detail: Detail

  @inlinable var known: Known? {
    switch detail {
    case .nothing: nil
    case .known(let known): known
    }
  }

  /// Creates the properties of a file; only the kind is required.
  public init(
    kind: MediaKind, bytes: Int? = nil, durationMilliseconds: Int? = nil,
    timing: MediaTiming? = nil, width: Int? = nil, variants: [MediaLoad] = []
  ) {
    self.kind = kind
    self.bytes = bytes
    self.durationMilliseconds = durationMilliseconds
    detail = Detail(timing: timing, width: width, variants: variants)
  }

  /// Creates the properties of a probed file.
  public init(_ truth: borrowing MediaTruth) {
    let kind: MediaKind =
      switch truth.kind {
      case .image, .animation: .image
      case .video: .video
      case .sound: .audio
      }
    var variants: [MediaLoad] = []
    variants.reserveCapacity(truth.variants.count)
    for index in truth.variants.indices {
      variants.append(
        MediaLoad(
          kind: kind, bytes: truth.variants[index].truth.bytes,
          durationMilliseconds: truth.variants[index].truth.durationMilliseconds,
          timing: truth.variants[index].truth.start, width: truth.variants[index].truth.width))
    }
    self.init(
      kind: kind, bytes: truth.bytes, durationMilliseconds: truth.durationMilliseconds,
      timing: truth.start, width: variants.isEmpty ? nil : truth.width, variants: variants)
  }

  /// Returns the properties of a file that is known to be gone or broken: there is nothing to load.
  public static func unavailable(_ kind: MediaKind) -> MediaLoad { MediaLoad(kind: kind, bytes: 0) }

  /// Creates the properties of a file that was not probed.
  public init(_ media: Media) {
    self.init(
      kind: media.kind, bytes: media.bytes, durationMilliseconds: media.durationMilliseconds)
  }
}

extension MediaLoad: Codable {
  private enum CodingKeys: CodingKey {
    case kind, bytes, durationMilliseconds, timing, width, variants
  }

  /// Decodes what `encode(to:)` wrote.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      kind: try values.decode(MediaKind.self, forKey: .kind),
      bytes: try values.decodeIfPresent(Int.self, forKey: .bytes),
      durationMilliseconds: try values.decodeIfPresent(Int.self, forKey: .durationMilliseconds),
      timing: try values.decodeIfPresent(MediaTiming.self, forKey: .timing),
      width: try values.decodeIfPresent(Int.self, forKey: .width),
      variants: try values.decodeIfPresent([MediaLoad].self, forKey: .variants) ?? [])
  }

  /// Encodes the members; unknown ones are omitted.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(kind, forKey: .kind)
    try values.encodeIfPresent(bytes, forKey: .bytes)
    try values.encodeIfPresent(durationMilliseconds, forKey: .durationMilliseconds)
    try values.encodeIfPresent(timing, forKey: .timing)
    try values.encodeIfPresent(width, forKey: .width)
    if !variants.isEmpty { try values.encode(variants, forKey: .variants) }
  }
}

extension MediaLoad {
  /// Equivalent to `Optional`. To copy an `Optional`, other modules would look up its type's layout at run
  /// time, which takes longer than everything else.
  @usableFromInline
  enum Detail: Hashable, Sendable {
    case nothing
    case known(Known)

    init(timing: MediaTiming?, width: Int?, variants: [MediaLoad]) {
      self =
        timing == nil && width == nil && variants.isEmpty
        ? .nothing : .known(Known(timing, width, variants))
    }
  }

  @usableFromInline
  final class Known: Hashable, Sendable {
    @usableFromInline let timing: MediaTiming?
    @usableFromInline let width: Int?
    @usableFromInline let variants: [MediaLoad]

    init(_ timing: MediaTiming?, _ width: Int?, _ variants: [MediaLoad]) {
      (self.timing, self.width, self.variants) = (timing, width, variants)
    }

    @inlinable
    func withTiming<Result>(_ body: (borrowing MediaTiming) -> Result) -> Result? {
      switch timing {
      case .some(let timing): body(timing)
      case nil: nil
      }
    }

    @usableFromInline
    static func == (left: Known, right: Known) -> Bool {
      left === right
        || left.timing == right.timing && left.width == right.width
          && left.variants == right.variants
    }

    @usableFromInline
    func hash(into hasher: inout Hasher) {
      hasher.combine(timing)
      hasher.combine(width)
      hasher.combine(variants)
    }
  }
}
