import System

/// Walks through the served files below a folder of a media root: folder by folder, in the byte order of
/// their names, following no links and skipping hidden names.
///
/// It reads a limited number of names at a time, so that memory is bounded for folders of any size. A file
/// renamed during the walk may be found twice or not at all; no other file is missed.
package struct MediaWalk: Sendable {
  /// A result of the walk.
  package enum Step: Sendable {
    /// A regular file.
    case file([String])
    /// A link, a pipe or the like, which is not served.
    case notServed([String])
    /// A folder with the skipped name, which is not entered.
    case passedOver([String])
    /// A file or folder that cannot be inspected, and the reason.
    case problem(path: String, WalkProblem)
  }

  /// The reason why something below a folder was not inspected.
  package enum WalkProblem: Sendable, CustomStringConvertible {
    /// The file or folder could not be opened.
    case media(MediaError)
    /// The name is not UTF-8, so no URL can contain it.
    case nameIsNotUTF8

    /// The problem as a clause.
    package var description: String {
      switch self {
      case .media(.denied(let error)), .media(.exhausted(let error)),
        .media(.unreadable(let error)), .media(.rootUnusable(let error)):
        error.reason
      case .media(let error): error.description
      case .nameIsNotUTF8: "its name is not UTF-8, so it has no URL"
      }
    }
  }

  /// A folder being walked.
  private struct Level: Sendable {
    let segments: [String]
    let folder: OpenFolder
    /// The next names, in reverse order.
    var names: [[UInt8]] = []
    var lastName: [UInt8]?
    var isComplete = false
  }

  /// The number of names of a folder read at a time.
  package static let namesAtOnce = 8_192

  private let namesAtOnce: Int
  private let passedOver: String?
  private var levels: [Level]

  /// Starts a walk through the folder with these segments; without segments, through the root.
  ///
  /// - Parameter name: the name of folders that are not entered.
  package init(
    _ root: MediaRoot, below segments: [String] = [], passingOver name: String? = nil
  ) throws(MediaError) {
    try self.init(root, below: segments, passingOver: name, namesAtOnce: Self.namesAtOnce)
  }

  /// Starts a walk through the root after a path, whether or not the path exists.
  ///
  /// - Parameter namesAtOnce: the number of names of a folder read at a time.
  package init(
    _ root: MediaRoot, after segments: [String], passingOver name: String? = nil,
    namesAtOnce: Int = MediaWalk.namesAtOnce
  ) throws(MediaError) {
    try self.init(root, below: [], passingOver: name, namesAtOnce: namesAtOnce)
    for (depth, segment) in segments.enumerated() {
      levels[depth].lastName = Array(segment.utf8)
      guard depth + 1 < segments.count else { return }
      do throws(MediaError) {
        let path = segments[...depth]
        levels.append(Level(segments: Array(path), folder: try root.folder(of: path)))
      } catch {
        // The folder is gone with its files; the walk continues after it.
        guard case .notFound = error else { throw error }
        return
      }
    }
  }

  init(
    _ root: MediaRoot, below segments: [String], passingOver name: String? = nil,
    namesAtOnce: Int
  ) throws(MediaError) {
    self.namesAtOnce = namesAtOnce
    passedOver = name
    levels = [Level(segments: segments, folder: try root.folder(of: segments[...]))]
  }

  /// Returns the next result; nil at the end.
  package mutating func next() -> Step? {
    while !levels.isEmpty {
      guard let name = levels[levels.count - 1].names.popLast() else {
        if let problem = readNames() { return problem }
        continue
      }
      if let step = step(name) { return step }
    }
    return nil
  }

  /// Reads the next names of the innermost folder, or leaves the folder at its end.
  private mutating func readNames() -> Step? {
    let level = levels.removeLast()
    guard !level.isComplete else { return nil }
    do throws(SystemError) {
      var next = level
      let names = try level.folder.names(
        after: level.lastName, limit: namesAtOnce, purpose: "read a folder"
      ) { $0.first != UInt8(ascii: ".") }
      next.lastName = names.last
      next.isComplete = names.count < namesAtOnce
      next.names = names.reversed()
      levels.append(next)
      return nil
    } catch {
      return .problem(path: level.segments.joined(separator: "/"), .media(.denied(error)))
    }
  }

  /// Returns the result for this name in the innermost folder; nil for a folder, which the walk enters.
  private mutating func step(_ bytes: [UInt8]) -> Step? {
    let level = levels[levels.count - 1]
    guard let name = String(validating: bytes, as: UTF8.self) else {
      let path = (level.segments + [String(decoding: bytes, as: UTF8.self)])
      return .problem(path: path.joined(separator: "/"), .nameIsNotUTF8)
    }
    let segments = level.segments + [name]
    let path = segments.joined(separator: "/")
    guard segments.count <= MediaRoot.depthLimit else {
      return .problem(path: path, .media(.notFound(.tooDeep(segmentCount: segments.count))))
    }
    do throws(SystemError) {
      let status = try level.folder.status(of: name, purpose: "inspect a file")
      if status.isRegularFile { return .file(segments) }
      guard status.isFolder else { return .notServed(segments) }
      if let passedOver, name.utf8.elementsEqual(passedOver.utf8) { return .passedOver(segments) }
      let folder = try level.folder.folder(named: name, purpose: "open a folder")
      levels.append(Level(segments: segments, folder: folder))
      return nil
    } catch {
      switch MediaError(opening: error) {
      // Removed since it was listed.
      case .notFound: return nil
      case let problem: return .problem(path: path, .media(problem))
      }
    }
  }
}
