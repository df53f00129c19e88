/// How many bytes of a file start it, and play it how far. All counts begin at the file's first byte, are
/// rounded up where they are not exact, and are never beyond the file's end.
package struct MediaStart: Sendable, Hashable {
  /// How far the first `bytes` bytes play.
  package struct Point: Sendable, Hashable {
    /// A time from the first moment that is shown, in milliseconds.
    package let milliseconds: Int64
    /// Bytes `0..<bytes` are enough to show and to sound all up to that time.
    package let bytes: Int64

    /// A point of a curve.
    package init(milliseconds: Int64, bytes: Int64) {
      self.milliseconds = milliseconds
      self.bytes = bytes
    }
  }

  /// How much has to be there before playback starts.
  package struct Lead: Sendable, Hashable {
    /// 1000 bits a second, of the file's own bytes.
    package let kilobitsPerSecond: Int64
    /// With bytes `0..<bytes` there at the start and the others following at this rate, it never stalls.
    package let bytes: Int64

    /// A row of the leads.
    package init(kilobitsPerSecond: Int64, bytes: Int64) {
      self.kilobitsPerSecond = kilobitsPerSecond
      self.bytes = bytes
    }
  }

  /// Whether a part of the file from its first byte on, that is not nearly all of it, shows the first frame.
  /// False where the tables lie behind the media data (`moov` at the end).
  package let isStartable: Bool
  /// Bytes `0..<headBytes` are enough to decode and to show the first frame, with the sound of that moment.
  /// Of an image: its first scan where it comes in several, or else all.
  package let headBytes: Int64
  /// What is needed to show the first frame, in ascending order and apart from each other: one range from 0
  /// on where it is startable, or else the head up to the end of the first frame, and the tables behind, with
  /// the heads of the boxes between: no more than four.
  package let neededRanges: [Range<Int64>]
  /// Where each scan of an image ends that comes in several (progressive JPEG, interlaced PNG), ascending:
  /// bytes `0..<scanEnds[n]` show n + 1 scans; of the first `scanLimit`. Empty for all others.
  package let scanEnds: [Int64]
  /// A JPEG file may have as many scans as it has room for; ten are usual.
  static let scanLimit = 64
  /// At 1, 2, 3, 5 and 10 s as far as it lasts, and at its end; never falling. Empty where nothing moves.
  package let curve: [Point]
  /// By ascending bandwidth (`StartMeter` has the steps): a client takes the row of the next lower
  /// bandwidth, and where there is none the whole file. Bytes never rise from row to row.
  package let lead: [Lead]
}
