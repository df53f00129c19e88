import MediaProbe

/// How a run went, so far or as a whole. Each file is counted once, or where posts name it once for each of
/// the URLs by which they do.
package struct MediaAddition: Sendable, Hashable {
  /// Files that were decoded, and are known now.
  package var probed = 0
  /// Files whose content was known already, here or elsewhere: read, but not decoded.
  package var recognized = 0
  /// Files that look as they did when they were read last.
  package var unchanged = 0
  /// Files that are no images, videos or sounds.
  package var passedOver = 0
  /// Files of which nothing could be told.
  package var failed = 0
  /// Files that changed too shortly before: they are left for later.
  package var waiting = 0
  /// URLs of files that are gone or broken, of which nothing is known any longer.
  package var forgotten = 0
  /// Files of which less is known than there would be to know, for want of ffmpeg.
  package var withoutDecoder = 0

  /// Renditions that were made, or in a dry run would be.
  package var renditionsMade = 0
  /// Renditions that were there.
  package var renditionsKept = 0
  /// Renditions that would save less than a tenth of their originals' bytes.
  package var renditionsDropped = 0
  /// Renditions that are not there and should be, for a reason that was reported.
  package var renditionsFailed = 0
  /// Renditions of contents that are gone, which were removed.
  package var renditionsRemoved = 0

  /// Of a run that has not begun.
  package init() {}

  /// How many files were dealt with.
  package var files: Int { probed + recognized + unchanged + passedOver + failed }
}

/// What a person should hear of one file.
package enum MediaRemark: Sendable, CustomStringConvertible {
  /// Nothing could be told of it: a clause that says why.
  case problem(path: String, reason: String)
  /// An additional note about a file.
  case note(path: String, ProbeNote)
  /// This would be made of it.
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
