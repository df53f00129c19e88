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
    /// Whether decoding can have begun.
    var hasBegun: Bool
    var isCutShort = false
    var sampleCount = 0
  }

  private(set) var start = StartMeter()
  /// The largest end of samples beyond the file's end.
  private(set) var missingEnd: Int64?
  /// When the last sample ends, of those beyond the file's end too, and when the first is shown.
  private var endMicroseconds: Int64 = .min
  private var origin: Int64 = .max
  private var progress: [Progress]
  private let fileBytes: Int64

  init(_ movie: Movie, fileBytes: Int64) {
    self.fileBytes = fileBytes
    progress = [movie.picture, movie.sound].compactMap { $0 }
      .map { Progress(track: $0, hasBegun: $0.media == .sound) }
    start.reserve(progress.reduce(0) { $0 + $1.track.tables.count })
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
      try progress[index].track.tables.forEach { add($0, ofTrackAt: index) }
    }
  }

  /// A piece of a movie that is looked at no closer: all of it is needed when it begins.
  mutating func addPiece(from start: Int64, until end: Int64, end byte: Int64) {
    if byte > fileBytes {
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
  mutating func add(_ sample: Sample, ofTrackAt index: Int) {
    let track = progress[index].track
    progress[index].sampleCount += 1
    let shown = track.edits.shown(
      from: sample.compositionTime, until: sample.compositionTime + sample.ticks)
    if let shown {
      origin = min(origin, shown.start)
      endMicroseconds = max(endMicroseconds, shown.end)
    }
    let end = ByteReader.end(sample.offset, sample.bytes)
    if end > fileBytes {
      missingEnd = max(missingEnd ?? 0, end)
      progress[index].isCutShort = true
    }
    // Nothing is decoded behind what is missing.
    if progress[index].isCutShort { return }
    progress[index].end = max(progress[index].end, end)
    if sample.isSync { progress[index].hasBegun = true }
    guard let shown else {
      start.extend(toByte: progress[index].end)
      return
    }
    start.add(time: shown.start, until: shown.end, end: progress[index].end)
    guard track.media == .picture, progress[index].hasBegun else { return }
    // A frame that an edit cuts into is shown for its rest, or passed over; then the next one is the first.
    start.addPicture(at: shown.isFromBeginning ? shown.start : shown.end)
  }
}
