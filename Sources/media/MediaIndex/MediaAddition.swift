import MediaProbe

/// The counts of a run, so far or as a whole. Each file is counted once, or for files that posts name, once
/// for each URL by which they do.
package struct MediaAddition: Sendable, Hashable {
  /// Files that were decoded and are now known.
  package var probed = 0
  /// Files whose content was already known, here or elsewhere: read, but not decoded.
  package var recognized = 0
  /// Files whose status is unchanged since they were last read.
  package var unchanged = 0
  /// Files that are not images, videos or sounds.
  package var passedOver = 0
  /// Files about which nothing could be determined.
  package var failed = 0
  /// Files that changed too recently, and are left for a later run.
  package var waiting = 0
  /// URLs of missing or broken files whose facts were removed.
  package var forgotten = 0
  /// Files with incomplete facts, because ffmpeg is missing.
  package var withoutDecoder = 0

  /// Renditions that were made, or would be made in a dry run.
  package var renditionsMade = 0
  /// Renditions that existed.
  package var renditionsKept = 0
  /// Renditions that would save less than a tenth of their originals' bytes.
  package var renditionsDropped = 0
  /// Missing renditions that could not be made, for a reported reason.
  package var renditionsFailed = 0
  /// Removed renditions of contents that no longer exist.
  package var renditionsRemoved = 0

  /// Creates the counts of a run that has not begun.
  package init() {}

  /// The number of processed files.
  package var files: Int { probed + recognized + unchanged + passedOver + failed }
}

/// A message to the operator about one file.
package enum MediaRemark: Sendable, CustomStringConvertible {
  /// Nothing could be determined; the clause says why.
  case problem(path: String, reason: String)
  /// An additional note about a file.
  case note(path: String, ProbeNote)
  /// This rendition would be made.
  case plan(path: String, Rendition)

  /// `path: what is wrong`
  package var description: String {
    switch self {
    case .problem(let path, let reason): "\(path): \(reason)"
    case .note(let path, let note): "\(path): \(note)"
    case .plan(let path, let rendition):
      "\(path): would be made \(rendition.width) × \(rendition.height), \(rendition.mimeType)"
    }
  }
}
