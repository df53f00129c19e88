import Catalog
import MediaProbe

/// What became of one file.
enum MediaOutcome: Sendable {
  /// It looks as it did when it was read last.
  case unchanged(Renditions)
  /// It is as it was when that became of it, which was told then.
  case remembered(MediaMemory.Fate)
  /// It may be one that is being written. What was known at its URLs is not true any longer.
  case waiting(urls: [String])
  /// It is no media file, or nothing that is served. What was known at its URLs is not true any longer.
  case passedOver(urls: [String])
  /// It is known now.
  case known(Finding)
  /// Nothing can be told of it. What was known at its URLs is not true any longer; at some of them it is known
  /// that there is nothing to load.
  case failed(
    path: String, reason: String, urls: [String], unavailableURLs: [String] = [],
    sha256: [UInt8]?)
  /// The store failed: the run is over.
  case stopped(any Error)

  /// What is worth remembering.
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
    /// One for each of its URLs.
    let media: [KnownMedia]
    /// Nil where the content was known already.
    let notes: [ProbeNote]?
    let sha256: [UInt8]?
    let renditions: Renditions
  }

  /// What became of a file's renditions.
  struct Renditions: Sendable {
    let path: String
    /// What was made, or in a dry run would be.
    var made: [Rendition] = []
    /// How many were there.
    var kept = 0
    /// How many would save too little.
    var dropped = 0
    /// Why there is not one that there should be.
    var problems: [String] = []
  }
}
