/// How much of a file is looked at. A file that has more is refused (`FormatError.Reason.tooMany`), so that
/// what a parser costs is bounded whatever a file says of itself.
package struct MediaLimits: Sendable, Hashable {
  /// What is counted.
  package enum Counted: String, Sendable, Hashable {
    /// Width times height of a picture.
    case pixels
    /// Bytes of tables that are held in memory at one time, such as a whole `moov`.
    case tableBytes = "bytes of tables"
    /// Boxes, chunks, elements and markers that are walked through.
    case parts
    /// Streams of a video.
    case tracks
    /// Frames and pieces of sound of all tracks.
    case samples
    /// Images and parts of images in one file of the HEIF family.
    case items
    /// Rows of a track's edit list.
    case edits
  }

  /// Four times what the largest camera has.
  package var pixels: Int64 = 1 << 30
  /// The tables of about ten hours of video with sound.
  package var tableBytes: Int64 = 64 << 20
  /// As many as the largest files have: each page of a long sound is one.
  package var parts: Int64 = 4_000_000
  /// More than any film has languages.
  package var tracks: Int64 = 256
  /// Ten hours of 60 frames a second with sound of 47.
  package var samples: Int64 = 4_000_000
  /// A grid of 50 megapixels in tiles of 512 by 512 has 200.
  package var items: Int64 = 65_536
  /// Each cut of a film that was edited without writing it anew is one.
  package var edits: Int64 = 64

  /// How far fragments and Matroska's clusters are walked through, from where they begin. Of what lies
  /// behind, all is taken to be needed at once (or when an index says), so that what is said of later times
  /// is rounded up. To be lowered where reading is dear, as from a URL.
  package var walkedBytes: Int64 = .max

  /// The limits as they usually are.
  package init() {}

  func check(_ number: Int64, _ counted: Counted, at offset: Int64, in place: String) throws {
    let limit =
      switch counted {
      case .pixels: pixels
      case .tableBytes: tableBytes
      case .parts: parts
      case .tracks: tracks
      case .samples: samples
      case .items: items
      case .edits: edits
      }
    if number > limit {
      throw FormatError(.tooMany(counted, limit: limit), at: offset, in: place)
    }
  }
}
