import Feed
import MediaFiles
import MediaProbe

/// A path at which a media file may be put: each of its segments a name that is served, and that means nothing else.
package enum NewMediaPath {
  /// How long it may be: percent-encoded, a post can still name it.
  package static let maximumBytes = 1_024

  /// - Parameter segments: decoded.
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
    // The longest name of Linux's file systems.
    guard segment.utf8.count <= 255 else { throw .longSegment(bytes: segment.utf8.count) }
    guard !scalars.contains("/") else { throw .slash(segment) }
    let isControl = scalars.contains {
      switch $0.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
      // What turns the direction of text around makes one name look like another.
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

/// Why no media file can be put at a path.
package enum NewMediaPathError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It has more segments than are served.
  case tooDeep(segmentCount: Int)
  /// It is longer than `NewMediaPath.maximumBytes`.
  case tooLong(bytes: Int)
  /// Nothing stands between two slashes, or behind the last one.
  case emptySegment
  /// `.` or `..`
  case dots(String)
  /// A leading dot: it would never be served.
  case hidden(String)
  /// A segment is longer than a name may be.
  case longSegment(bytes: Int)
  /// An encoded slash.
  case slash(String)
  /// A control character, or one that turns the direction of text.
  case control(String)
  /// A name that files in the making and renditions have.
  case reserved(String)
  /// It is percent-encoded where it need not be.
  case needlesslyEncoded

  /// A sentence.
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
