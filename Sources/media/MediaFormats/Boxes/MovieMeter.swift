/// Takes the samples of the tracks that are played, in the order in which they are decoded, and tells a
/// `StartMeter` what they need.
///
/// A sample is decoded with all before it of its track: so what it needs is the largest end of them. That
/// holds for reordered frames and for an edit that begins between two key frames.
struct MovieMeter {
  /// A track, and how far it has come.
  private struct Progress {
    let track: Track
    /// The largest end of the samples so far.
    var end: Int64 = 0
    /// The first key frame.
    var key: Sample?
    /// Whether another one has come.
    var isPastFirstGroup = false
    /// Whether frames that come behind the first and are shown before it can be decoded; nil as long as there
    /// is none.
    var decodesLeading: Bool?
    var isCutShort = false
    var sampleCount = 0

    mutating func note(_ sample: Sample) {
      sampleCount += 1
      guard sample.isSync else { return }
      isPastFirstGroup = key != nil
      key = key ?? sample
    }
  }

  private(set) var start = StartMeter()
  /// The largest end of samples beyond the file's end.
  private(set) var missingEnd: Int64?
  /// When the last sample ends, of those beyond the file's end too, and when the first is shown.
  private var endMicroseconds: Int64 = .min
  private var origin: Int64 = .max
  private var progress: [Progress]
  private let reader: ByteReader

  init(_ movie: Movie, _ reader: ByteReader) {
    self.reader = reader
    progress = [movie.picture, movie.sound].compactMap { $0 }.map { Progress(track: $0) }
    start.reserve(progress.reduce(0) { $0 + $1.track.tables.pieceCount })
  }

  /// How many frames the pictures have.
  var frameCount: Int? { progress.first { $0.track.media == .picture }?.sampleCount }

  var durationMilliseconds: Int64? {
    guard !start.hasUnknownEnd, endMicroseconds > origin else { return nil }
    return (endMicroseconds - origin + 999) / 1000
  }

  /// The track of this number, where it is played.
  func index(ofTrack number: UInt32) -> Int? {
    progress.firstIndex { $0.track.number == number }
  }

  /// All samples that the movie's own tables have.
  mutating func addTables() throws {
    for index in progress.indices {
      try progress[index].track.tables.forEach { try add($0, ofTrackAt: index) }
    }
  }

  /// A piece of a movie that is looked at no closer: all of it is needed when it begins.
  mutating func addPiece(from start: Int64, until end: Int64, end byte: Int64) {
    if byte > reader.size {
      missingEnd = max(missingEnd ?? 0, byte)
    } else {
      self.start.add(time: start, until: end, end: byte)
    }
    origin = min(origin, start)
    endMicroseconds = max(endMicroseconds, end)
  }

  /// What lies behind, and is not looked at.
  mutating func addRest(lastingMilliseconds: Int64?, end: Int64) {
    start.addRest(lastingMilliseconds: lastingMilliseconds, end: end)
    if let whole = start.durationMilliseconds {
      endMicroseconds = max(endMicroseconds, origin + min(whole, 1 << 50) * 1000)
    }
  }

  /// The next sample of a track. Its times are within ±2^60.
  mutating func add(_ sample: Sample, ofTrackAt index: Int) throws {
    let track = progress[index].track
    progress[index].note(sample)
    var shown = track.edits.shown(
      from: sample.compositionTime, until: sample.compositionTime + sample.ticks)
    if shown != nil, try isPassedOver(sample, ofTrackAt: index) { shown = nil }
    if let shown {
      origin = min(origin, shown.start)
      endMicroseconds = max(endMicroseconds, shown.end)
    }
    let end = ByteReader.end(sample.offset, sample.bytes)
    if end > reader.size {
      missingEnd = max(missingEnd ?? 0, end)
      progress[index].isCutShort = true
    }
    // Nothing is decoded behind what is missing.
    if progress[index].isCutShort { return }
    progress[index].end = max(progress[index].end, end)
    guard let shown else {
      start.extend(toByte: progress[index].end)
      return
    }
    start.add(time: shown.start, until: shown.end, end: progress[index].end)
    guard track.media == .picture, progress[index].key != nil else { return }
    // A frame that an edit cuts into is shown for its rest, or passed over; then the next one is the first.
    start.addPicture(at: shown.isFromBeginning ? shown.start : shown.end)
  }

  /// Whether a decoder that begins with the first key frame passes a frame over which is shown before it.
  private mutating func isPassedOver(_ sample: Sample, ofTrackAt index: Int) throws -> Bool {
    let own = progress[index]
    guard own.track.media == .picture, !own.isPastFirstGroup, let key = own.key,
      sample.compositionTime < key.compositionTime
    else { return false }
    if let known = own.decodesLeading { return !known }
    let frame = KeyFrame(
      codec: own.track.entry.codec, lengthBytes: own.track.entry.lengthBytes,
      range: key.offset..<ByteReader.end(key.offset, key.bytes))
    let decodes = try frame.decodesLeadingFrames(reader)
    progress[index].decodesLeading = decodes
    return !decodes
  }
}
