import Feed
import MediaFiles
import MediaProbe

/// The rules for the path of a new media file: each segment is a name that is served and has no other meaning.
package enum NewMediaPath {
  /// The maximum length, at which a post can still name the percent-encoded path.
  package static let maximumBytes = 1_024

  /// Checks a path.
  ///
  /// - Parameter segments: the decoded path segments.
  /// - Throws: `NewMediaPathError`.
  package static func check(_ segments: [String]) throws(NewMediaPathError) {
    guard segments.count <= MediaRoot.depthLimit else {
      throw .tooDeep(segmentCount: segments.count)
    }
    let bytes = segments.reduce(segments.count - 1) { $0 + $1.utf8.count }
    guard bytes <= maximumBytes else { throw .tooLong(bytes: bytes) }
    for segment in segments { try check(segment) }
  }

  private static func check(_ segment: String) throws(NewMediaPathError) {
    let scalars = segment.unicodeScalars
    guard !segment.isEmpty else { throw .emptySegment }
    guard segment != ".", segment != ".." else { throw .dots(segment) }
    guard scalars.first != "." else { throw .hidden(segment) }
    // The longest name in Linux's file systems.
    guard segment.utf8.count <= 255 else { throw .longSegment(bytes: segment.utf8.count) }
    guard !scalars.contains("/") else { throw .slash(segment) }
    let isControl = scalars.contains {
      switch $0.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
      // Changes of the text direction make one name look like another.
      default: (0x202a...0x202e).contains($0.value) || (0x2066...0x2069).contains($0.value)
      }
    }
    guard !isControl else { throw .control(segment) }
    let isReserved =
      segment.utf8.elementsEqual(RenditionShelf.folderName.utf8)
      || [
        RenditionName.partialSuffix, RenditionName.droppedSuffix, Faststart.partialSuffix,
      ].contains { segment.lowercased().hasSuffix($0) }
    guard !isReserved else { throw .reserved(segment) }
  }
}

/// The reason why no media file can have a path.
package enum NewMediaPathError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path has more segments than are served.
  case tooDeep(segmentCount: Int)
  /// The path is longer than `NewMediaPath.maximumBytes`.
  case tooLong(bytes: Int)
  /// The path has two adjacent slashes, or one at the end.
  case emptySegment
  /// A segment is `.` or `..`.
  case dots(String)
  /// A segment has a leading dot, so it would never be served.
  case hidden(String)
  /// A segment is longer than a name may be.
  case longSegment(bytes: Int)
  /// A segment contains an encoded slash.
  case slash(String)
  /// A segment contains a control character, or one that changes the text direction.
  case control(String)
  /// A segment is a name of unfinished files or of renditions.
  case reserved(String)
  /// The path has needless percent-encoding.
  case needlesslyEncoded

  /// The error as a sentence.
  package var description: String {
    switch self {
    case .tooDeep(let count):
      "The path has \(count) segments, more than \(MediaRoot.depthLimit)."
    case .tooLong(let bytes):
      "The path has \(bytes) bytes, more than \(NewMediaPath.maximumBytes)."
    case .emptySegment: "A segment of the path is empty."
    case .dots(let name): "The path has the segment \"\(name)\"."
    case .hidden(let name):
      "The name \(name.debugDescription) is hidden: such files are not served."
    case .longSegment(let bytes): "A segment of the path has \(bytes) bytes, more than 255."
    case .slash(let name): "The name \(name.debugDescription) contains a slash."
    case .control(let name): "The name \(name.debugDescription) contains a control character."
    case .reserved(let name):
      "The name \(name.debugDescription) is reserved for files that the server makes."
    case .needlesslyEncoded:
      "The path percent-encodes letters, digits, \"-\", \".\" or \"_\": write them as they are."
    }
  }
}
