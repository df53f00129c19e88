/// Takes the samples of the played tracks in decoding order and tells a `StartMeter` which bytes they need.
///
/// Decoding a sample requires all samples before it in its track, so it needs the largest end among them.
/// This covers reordered frames and an edit that begins between two key frames.
struct MovieMeter {
  /// A track and its progress.
  private struct Progress {
    let track: Track
    /// The largest end of the samples so far.
    var end: Int64 = 0
    /// The first key frame.
    var key: Sample?
    /// Whether a second key frame has come.
    var isPastFirstGroup = false
    /// Whether frames that follow the first key frame but are shown before it can be
    /// decoded; nil until there is one.
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
  /// The largest end of samples beyond the end of the file.
  private(set) var missingEnd: Int64?
  /// The end of the last sample, including those beyond the end of the file, and the start of the first one.
  private var endMicroseconds: Int64 = .min
  private var origin: Int64 = .max
  private var progress: [Progress]
  private let reader: ByteReader

  init(_ movie: Movie, _ reader: ByteReader) {
    self.reader = reader
    progress = [movie.picture, movie.sound].compactMap { $0 }.map { Progress(track: $0) }
    start.reserve(progress.reduce(0) { $0 + $1.track.tables.pieceCount })
  }

  /// The number of frames of the pictures.
  var frameCount: Int? { progress.first { $0.track.media == .picture }?.sampleCount }

  var durationMilliseconds: Int64? {
    guard !start.hasUnknownEnd, endMicroseconds > origin else { return nil }
    return (endMicroseconds - origin + 999) / 1000
  }

  /// Returns the index of the track with this number; nil if it is not played.
  func index(ofTrack number: UInt32) -> Int? {
    progress.firstIndex { $0.track.number == number }
  }

  /// Adds all samples of the movie's own tables.
  mutating func addTables() throws {
    for index in progress.indices {
      try progress[index].track.tables.forEach { try add($0, ofTrackAt: index) }
    }
  }

  /// Adds a piece of a movie without inspecting it: all of it is needed at its start.
  mutating func addPiece(from start: Int64, until end: Int64, end byte: Int64) {
    if byte > reader.size {
      missingEnd = max(missingEnd ?? 0, byte)
    } else {
      self.start.add(time: start, until: end, end: byte)
    }
    origin = min(origin, start)
    endMicroseconds = max(endMicroseconds, end)
  }

  /// Adds the rest of the file without inspecting it.
  mutating func addRest(lastingMilliseconds: Int64?, end: Int64) {
    start.addRest(lastingMilliseconds: lastingMilliseconds, end: end)
    if let whole = start.durationMilliseconds {
      endMicroseconds = max(endMicroseconds, origin + min(whole, 1 << 50) * 1000)
    }
  }

  /// Adds the next sample of a track. Its times are within ±2^60.
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
    // Nothing is decoded after missing data.
    if progress[index].isCutShort { return }
    progress[index].end = max(progress[index].end, end)
    guard let shown else {
      start.extend(toByte: progress[index].end)
      return
    }
    start.add(time: shown.start, until: shown.end, end: progress[index].end)
    guard track.media == .picture, progress[index].key != nil else { return }
    // A player shows the rest of a frame that an edit cuts into, or skips it; then the next one is the first.
    start.addPicture(at: shown.isFromBeginning ? shown.start : shown.end)
  }

  /// Whether a decoder that begins with the first key frame skips a frame that is shown before that key frame.
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
