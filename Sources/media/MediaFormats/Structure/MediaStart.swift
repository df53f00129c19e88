/// The number of bytes that start a file, and that play it up to certain times. All counts begin at the
/// file's first byte, are rounded up where they are not exact, and never exceed the file's size.
package struct MediaStart: Sendable, Hashable {
  /// The time up to which the first `bytes` bytes play.
  package struct Point: Sendable, Hashable {
    /// The time since the first moment shown, in milliseconds.
    package let milliseconds: Int64
    /// Bytes `0..<bytes` are enough to play everything up to that time.
    package let bytes: Int64

    /// Creates a point of a curve.
    package init(milliseconds: Int64, bytes: Int64) {
      self.milliseconds = milliseconds
      self.bytes = bytes
    }
  }

  /// The number of bytes required before playback starts at a bandwidth.
  package struct Lead: Sendable, Hashable {
    /// The bandwidth for the file's own bytes, in 1000 bits per second.
    package let kilobitsPerSecond: Int64
    /// If bytes `0..<bytes` are present at the start and the others follow at this rate, playback never stalls.
    package let bytes: Int64

    /// Creates a row of the leads.
    package init(kilobitsPerSecond: Int64, bytes: Int64) {
      self.kilobitsPerSecond = kilobitsPerSecond
      self.bytes = bytes
    }
  }

  /// Whether a part of the file from its first byte on, much smaller than the file, shows the first frame.
  /// False if the tables follow the media data (`moov` at the end).
  package let isStartable: Bool
  /// Bytes `0..<headBytes` are enough to decode and show the first frame, with the sound of that moment. For
  /// an image: the first of several scans, or else the whole image.
  package let headBytes: Int64
  /// The ranges required to show the first frame, ascending and not adjacent. A startable file has one range
  /// from 0 on. Others have the head up to the end of the first frame, the tables after it, and the headers
  /// of the boxes between, in at most four ranges.
  package let neededRanges: [Range<Int64>]
  /// The end of each scan of an image with several (progressive JPEG, interlaced PNG), ascending: bytes
  /// `0..<scanEnds[n]` show n + 1 scans. At most the first `scanLimit`; empty for other files.
  package let scanEnds: [Int64]
  /// A JPEG file may have any number of scans; ten are usual.
  static let scanLimit = 64
  /// Points at 1, 2, 3, 5 and 10 s within the duration, and at the end; never falling. Empty for still images.
  package let curve: [Point]
  /// Leads by ascending bandwidth (`StartMeter` has the steps). A client takes the row of the next lower
  /// bandwidth, or the whole file if there is none. Bytes never rise from row to row.
  package let lead: [Lead]
}
