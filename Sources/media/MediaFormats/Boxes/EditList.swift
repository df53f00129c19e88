/// The edit list of a track: which parts of its media are shown, and when (ISO/IEC 14496-12 section 8.6.6).
struct EditList {
  private struct Edit {
    /// The start, relative to the start of the presentation.
    let startMicroseconds: Int64
    let media: Range<Int64>
  }

  /// The time when a piece of media is shown.
  struct Shown {
    let start: Int64
    let end: Int64
    /// Whether it is shown from its own beginning: an edit may begin within a frame.
    let isFromBeginning: Bool
  }

  private var edits: [Edit] = []
  private let timescale: Timescale

  /// Creates a list that shows all of the media from the start on.
  init(timescale: Timescale) { self.timescale = timescale }

  /// Reads an `elst` box of a movie with the timescale `movie`.
  init(
    _ fields: FieldReader, timescale: Timescale, movie: Timescale, limits: MediaLimits
  ) throws {
    self.timescale = timescale
    var fields = fields
    let version = try fields.fullBox().version
    let count = Int64(try fields.unsigned32())
    try limits.check(count, .edits, at: fields.offset, in: fields.place)
    var start: Int64 = 0
    for _ in 0..<count {
      let duration = try version == 1 ? fields.unsigned63() : Int64(fields.unsigned32())
      let mediaStart = try version == 1 ? fields.signed64() : Int64(fields.signed32())
      try fields.skip(4)
      guard let startMicroseconds = movie.microseconds(start),
        let mediaDuration = movie.ticks(duration, in: timescale), abs(mediaStart >> 1) < 1 << 59
      else { throw fields.malformed("an edit's time is too large") }
      // -1 is a pause. A duration of 0 means all media, including that of later fragments (section 8.6.6.1);
      // other durations are rounded to the movie's ticks, so one tick is added.
      if mediaStart >= 0 {
        let end = duration == 0 ? .max : mediaStart + mediaDuration + 1
        edits.append(Edit(startMicroseconds: startMicroseconds, media: mediaStart..<end))
      }
      start = ByteReader.end(start, duration)
    }
  }

  /// Returns when media from `start` until `end`, in ticks of the media, is first shown; nil if it never is,
  /// or if the time is out of range. Both are within ±2^60.
  func shown(from start: Int64, until end: Int64) -> Shown? {
    if edits.isEmpty {
      guard let from = timescale.microseconds(start), let until = timescale.microseconds(end) else {
        return nil
      }
      return Shown(start: from, end: until, isFromBeginning: true)
    }
    var first: Shown?
    for edit in edits where edit.media.overlaps(start..<max(end, start + 1)) {
      let from = max(start, edit.media.lowerBound)
      let until = max(from, min(end, edit.media.upperBound))
      guard let offset = timescale.microseconds(from - edit.media.lowerBound),
        let length = timescale.microseconds(until - from),
        offset + edit.startMicroseconds < first?.start ?? .max
      else { continue }
      let time = edit.startMicroseconds + offset
      first = Shown(start: time, end: time + length, isFromBeginning: from == start)
    }
    return first
  }
}
