/// A `moov` box (ISO/IEC 14496-12 section 8.2): the tracks to play, and the defaults of fragments.
struct Movie {
  /// The values for fragments that state none (section 8.8.3).
  struct FragmentDefaults {
    var ticks: UInt32 = 0
    var bytes: UInt32 = 0
    var flags: UInt32 = 0
  }

  /// The pictures to play: the first enabled track with pictures.
  private(set) var picture: Track?
  /// The sound to play with the pictures.
  private(set) var sound: Track?
  /// Whether a track has transparency for the pictures.
  private(set) var hasAlpha = false
  /// The declared duration, including fragments if the movie declares it; 0 if it declares none.
  private(set) var declaredMilliseconds: Int64 = 0
  /// Defaults by track number; nil if the movie has no fragments.
  private(set) var fragmentDefaults: [UInt32: FragmentDefaults]?

  init(_ fields: FieldReader, limits: MediaLimits) throws {
    let boxes = BoxContent(fields)
    if try boxes.first("cmov") != nil {
      throw FormatError(
        .unsupported("the movie's tables are compressed"), at: fields.offset, in: fields.place)
    }
    let timescale: Timescale
    (timescale, declaredMilliseconds) = try Self.header(try boxes.required("mvhd"))
    var tracks: [Track] = []
    var trackCount: Int64 = 0
    var sampleCount: Int64 = 0
    try boxes.forEach { name, content in
      guard name == "trak" else { return }
      trackCount += 1
      try limits.check(trackCount, .tracks, at: content.offset, in: content.place)
      guard let track = try Track(content, movie: timescale, limits: limits) else { return }
      sampleCount += Int64(track.tables.pieceCount)
      try limits.check(sampleCount, .samples, at: content.offset, in: content.place)
      tracks.append(track)
    }
    let pictures = tracks.filter { $0.media == .picture }
    let sounds = tracks.filter { $0.media == .sound }
    picture = pictures.first(where: \.isEnabled) ?? pictures.first
    sound = sounds.first(where: \.isEnabled) ?? sounds.first
    hasAlpha = tracks.contains { $0.media == .auxiliaryPicture }
    guard picture != nil || sound != nil else {
      throw fields.malformed("it has no track of pictures or sound")
    }
    guard let extended = try boxes.first("mvex") else { return }
    fragmentDefaults = try Self.defaults(extended)
    if var header = try BoxContent(extended).first("mehd") {
      let version = try header.fullBox().version
      if let ticks = Int64(exactly: try header.number(version == 1 ? 8 : 4)),
        let microseconds = timescale.microseconds(ticks), microseconds > 0
      {
        declaredMilliseconds = (microseconds + 999) / 1000
      }
    }
  }

  /// `mvhd` (section 8.2.2).
  private static func header(_ header: FieldReader) throws -> (Timescale, milliseconds: Int64) {
    var header = header
    let version = try header.fullBox().version
    try header.skip(version == 1 ? 16 : 8)
    let timescale = try Timescale(&header)
    let duration = try header.number(version == 1 ? 8 : 4)
    // All ones means unknown.
    guard version == 1 || duration < UInt32.max, let ticks = Int64(exactly: duration),
      let microseconds = timescale.microseconds(ticks)
    else { return (timescale, 0) }
    return (timescale, (microseconds + 999) / 1000)
  }

  private static func defaults(_ fields: FieldReader) throws -> [UInt32: FragmentDefaults] {
    var defaults: [UInt32: FragmentDefaults] = [:]
    try BoxContent(fields).forEach { name, content in
      guard name == "trex" else { return }
      var content = content
      _ = try content.fullBox()
      let track = try content.unsigned32()
      try content.skip(4)
      defaults[track] = FragmentDefaults(
        ticks: try content.unsigned32(), bytes: try content.unsigned32(),
        flags: try content.unsigned32())
    }
    return defaults
  }
}
