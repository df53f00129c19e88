import Glibc
import System

/// The folder that contains the media files.
///
/// No request leaves it or finds a hidden name. A path is walked one segment at a time; each is opened relative
/// to the folder before it, without following symbolic links (`openat(2)`, `O_NOFOLLOW`). So a folder cannot be
/// swapped for a link between a check and its use. The root's own path is the operator's: it may be a link, and
/// it is opened again for each file, so that another folder can take its place while the server runs.
package struct MediaRoot: Sendable {
  /// The maximum number of segments of a path.
  package static let depthLimit = 32

  /// The folder's path as given.
  package let path: String

  /// Creates the root at a path.
  ///
  /// - Throws: `MediaError.rootUnusable` if the path is not a folder whose files can be reached, `exhausted`
  ///   if the process has no descriptors or memory left.
  package init(path: String) throws(MediaError) {
    self.path = path
    do throws(SystemError) {
      let folder = try OpenFolder(path: path, purpose: Self.openRoot(path))
      // Permission to list is not enough: each file's name will be looked up in the folder.
      _ = try folder.folder(named: ".", purpose: "enter the media folder \(path)")
    } catch {
      throw MediaError(openingRoot: error)
    }
  }

  /// Opens the regular file with these path segments for reading.
  ///
  /// The segments are percent-decoded once (RFC 3986 section 3.3) and need no check before. The call does not
  /// wait for a peer, as opening a FIFO would.
  ///
  /// - Throws: `MediaError.notFound` for everything that is not served, whether it exists or not; `denied`,
  ///   `exhausted`, `unreadable` or `rootUnusable`.
  package func open(_ segments: [String]) throws(MediaError) -> OpenFile {
    try Self.check(segments)
    guard let name = segments.last else { throw .notFound(.notRegularFile) }
    let parent = try folder(of: segments.dropLast())
    let file: OpenFile?
    do throws(SystemError) {
      file = try parent.file(named: name, purpose: Self.purpose(segments[...]))
    } catch {
      throw MediaError(opening: error)
    }
    guard let file else { throw .notFound(.notRegularFile) }
    return file
  }

  /// Opens the folder with these path segments, from which files are served; without segments, the root.
  ///
  /// - Throws: as `open` does.
  package func openFolder(_ segments: [String]) throws(MediaError) -> OpenFolder {
    try Self.check(segments)
    return try folder(of: segments[...])
  }

  /// Opens the folder with these path segments, none of which may be a link; without segments, the root.
  func folder(of segments: ArraySlice<String>) throws(MediaError) -> OpenFolder {
    var folder: OpenFolder
    do throws(SystemError) {
      folder = try OpenFolder(path: path, purpose: Self.openRoot(path))
    } catch {
      throw MediaError(openingRoot: error)
    }
    do throws(SystemError) {
      for index in segments.indices {
        folder = try folder.folder(
          named: segments[index], purpose: Self.purpose(segments[...index]))
      }
    } catch {
      throw MediaError(opening: error)
    }
    return folder
  }

  /// Returns the status of the regular file with these path segments without opening it.
  ///
  /// - Throws: as `open` does.
  package func status(of segments: [String]) throws(MediaError) -> FileStatus {
    try Self.check(segments)
    guard let name = segments.last else { throw .notFound(.notRegularFile) }
    let parent = try folder(of: segments.dropLast())
    let status: FileStatus
    do throws(SystemError) {
      status = try parent.status(of: name, purpose: Self.purpose(segments[...]))
    } catch {
      throw MediaError(opening: error)
    }
    guard status.isRegularFile else { throw .notFound(.notRegularFile) }
    return status
  }

  /// Checks that there is a folder with these path segments from which files are served;
  /// without segments, the root.
  ///
  /// - Throws: as `open` does.
  package func requireFolder(_ segments: [String]) throws(MediaError) {
    _ = try openFolder(segments)
  }

  /// Whether the root contains nothing that may be served, or cannot be read, as with a missing mount.
  package var isEmpty: Bool {
    guard
      let folder = try? OpenFolder(path: path, purpose: Self.openRoot(path)),
      let names = try? folder.names(
        after: nil, limit: 1, purpose: Self.openRoot(path),
        where: { Self.isServed(String(decoding: $0, as: UTF8.self)) })
    else { return true }
    return names.isEmpty
  }

  /// Checks that these path segments may be served.
  ///
  /// - Throws: `MediaError.notFound` if they are not, whether the file exists or not.
  static func check(_ segments: [String]) throws(MediaError) {
    guard segments.count <= depthLimit else {
      throw .notFound(.tooDeep(segmentCount: segments.count))
    }
    if let index = segments.firstIndex(where: { !isServed($0) }) {
      throw .notFound(.nameNotServed(index: index))
    }
  }

  /// Whether a file or folder with this name may be served: not hidden, and a single name.
  static func isServed(_ segment: String) -> Bool {
    let bytes = segment.utf8
    guard let first = bytes.first, bytes.count <= Int(NAME_MAX) else { return false }
    // The leading dot also excludes `.` and `..`.
    return first != UInt8(ascii: ".") && !bytes.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }

  private static func openRoot(_ path: String) -> String { "open the media folder \(path)" }

  /// The purpose for a log line; quoted, since a name may contain a line feed.
  private static func purpose(_ segments: ArraySlice<String>) -> String {
    "open the media file \(segments.joined(separator: "/").debugDescription)"
  }
}
