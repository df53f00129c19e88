/// Limits for parsing a file. A file that exceeds one is refused (`FormatError.Reason.tooMany`), so that the
/// cost of a parser is bounded whatever a file states.
package struct MediaLimits: Sendable, Hashable {
  /// The things that are counted.
  package enum Counted: String, Sendable, Hashable {
    /// The width times the height of a picture.
    case pixels
    /// The bytes of tables in memory at one time, such as a whole `moov`.
    case tableBytes = "bytes of tables"
    /// The boxes, chunks, elements and markers visited.
    case parts
    /// The streams of a video.
    case tracks
    /// The frames and pieces of sound of all tracks.
    case samples
    /// The images and parts of images in one file of the HEIF family.
    case items
    /// The rows of a track's edit list.
    case edits
  }

  /// Four times the resolution of the largest camera.
  package var pixels: Int64 = 1 << 30
  /// The tables of about ten hours of video with sound.
  package var tableBytes: Int64 = 64 << 20
  /// As many as in the largest files: each page of a long sound is one.
  package var parts: Int64 = 4_000_000
  /// More than the languages of any film.
  package var tracks: Int64 = 256
  /// Ten hours of 60 frames a second with sound of 47.
  package var samples: Int64 = 4_000_000
  /// A grid of 50 megapixels with tiles of 512 by 512 has 200.
  package var items: Int64 = 65_536
  /// Each cut of a film that was edited without re-encoding is one.
  package var edits: Int64 = 64

  /// The number of bytes of fragments or Matroska clusters that are parsed, counted from the first one. All
  /// data after that count as needed at once (or at the times in an index), so results for later times are
  /// rounded up. Lower it where reading is expensive, as from a URL.
  package var walkedBytes: Int64 = .max

  /// Creates the default limits.
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
