import System

/// Goes through what is served below a folder of a media root: folder by folder, in the order of the bytes of
/// their names, through no link, and past all that is hidden.
///
/// Each folder's names are read some thousand at a time, so that no more of them are in memory, however many
/// there are. What is renamed meanwhile may be found twice or not at all; nothing else is lost.
package struct MediaWalk: Sendable {
  /// What the walk came upon.
  package enum Step: Sendable {
    /// A regular file.
    case file([String])
    /// A link, a pipe or the like, which is not served.
    case notServed([String])
    /// A folder of the name that is passed over, which is not entered.
    case passedOver([String])
    /// A file or folder that cannot be looked at, and why.
    case problem(path: String, WalkProblem)
  }

  /// Why something below a folder was not looked at.
  package enum WalkProblem: Sendable, CustomStringConvertible {
    /// It could not be opened.
    case media(MediaError)
    /// No URL can name it.
    case nameIsNotUTF8

    /// A clause.
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

  /// A folder whose names are being gone through.
  private struct Level: Sendable {
    let segments: [String]
    let folder: OpenFolder
    /// The next names, the last one first.
    var names: [[UInt8]] = []
    var lastName: [UInt8]?
    var isComplete = false
  }

  /// How many names of a folder are read at a time.
  package static let namesAtOnce = 8_192

  private let namesAtOnce: Int
  private let passedOver: String?
  private var levels: [Level]

  /// A walk through the folder with these segments, or the root where there are none.
  ///
  /// - Parameter name: what folders are called that are not entered.
  package init(
    _ root: MediaRoot, below segments: [String] = [], passingOver name: String? = nil
  ) throws(MediaError) {
    try self.init(root, below: segments, passingOver: name, namesAtOnce: Self.namesAtOnce)
  }

  /// A walk through the root that begins behind a path, whether or not there is something at it.
  ///
  /// - Parameter namesAtOnce: how many names of a folder are read at a time.
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
        // What was below it is gone, and the walk goes on behind it.
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

  /// What comes next; nil at the end.
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

  /// Reads the next names of the innermost folder, or leaves it.
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

  /// What has this name in the innermost folder; nil for a folder, which is entered.
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
      // Gone since it was listed.
      case .notFound: return nil
      case let problem: return .problem(path: path, .media(problem))
      }
    }
  }
}
