import Catalog
import MediaProbe

/// The outcome of inspecting one file.
enum MediaOutcome: Sendable {
  /// The status is unchanged since the file was last read.
  case unchanged(Renditions)
  /// The file is unchanged since an earlier run, which reported this.
  case remembered(MediaMemory.Fate)
  /// The file may still be being written. Earlier facts about its URLs no longer hold.
  case waiting(urls: [String])
  /// The file is not a media file, or is not served. Earlier facts about its URLs no longer hold.
  case passedOver(urls: [String])
  /// The facts are now known.
  case known(Finding)
  /// Nothing could be determined. Earlier facts about its URLs no longer hold; at some of them, there is
  /// known to be nothing to load.
  case failed(
    path: String, reason: String, urls: [String], unavailableURLs: [String] = [],
    sha256: [UInt8]?)
  /// The store failed, and the run ends.
  case stopped(any Error)

  /// The part of the outcome to remember.
  var fate: MediaMemory.Fate? {
    switch self {
    case .unchanged, .known: .known
    case .passedOver: .passedOver
    case .failed: .failed
    case .remembered, .waiting, .stopped: nil
    }
  }

  /// The facts that are now known about a file.
  struct Finding: Sendable {
    let path: String
    /// The facts for each of the file's URLs.
    let media: [KnownMedia]
    /// Nil if the content was already known.
    let notes: [ProbeNote]?
    let sha256: [UInt8]?
    let renditions: Renditions
  }

  /// The outcome for a file's renditions.
  struct Renditions: Sendable {
    let path: String
    /// The renditions that were made, or would be made in a dry run.
    var made: [Rendition] = []
    /// The number of existing renditions.
    var kept = 0
    /// The number of renditions that would save too little.
    var dropped = 0
    /// The reasons why renditions are missing.
    var problems: [String] = []
  }
}
