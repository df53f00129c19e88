import Glibc
import System

/// The folder beneath which the media files are.
///
/// No request gets out of it, and nothing that is hidden in it is found. A path is walked a segment
/// at a time, each opened relative to the folder before it and without following a symbolic link
/// (`openat(2)`, `O_NOFOLLOW`). So there is no moment between a check and its use in which a folder
/// could be swapped for a link. The folder's own path is the operator's: it may be a link, and it is
/// opened anew for each file, so that another folder can take its place while the server runs.
package struct MediaRoot: Sendable {
  /// How many segments a path may have.
  package static let depthLimit = 32

  /// The folder's path, as it was given.
  package let path: String

  /// The folder at a path. Throws `rootUnusable` if that is no folder whose files can be reached,
  /// or `exhausted` if the process can open nothing more.
  package init(path: String) throws(MediaError) {
    self.path = path
    do throws(SystemError) {
      let folder = try OpenFolder(path: path, purpose: Self.openRoot(path))
      // To be listed is not enough: its entries have to be reached, as each file will be.
      _ = try folder.folder(named: ".", purpose: "enter the media folder \(path)")
    } catch {
      throw MediaError(openingRoot: error)
    }
  }

  /// The regular file with these path segments, open for reading.
  ///
  /// The segments are percent-decoded once (RFC 3986 section 3.3) and need no check before. Never
  /// waits for a peer, as opening a FIFO would. Throws `notFound` for all that is not served,
  /// whether it is there or not; and `denied`, `exhausted`, `unreadable` or `rootUnusable`.
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

  /// The folder with these path segments, from which files are served; without any, the root itself.
  ///
  /// - Throws: as `open` does.
  package func openFolder(_ segments: [String]) throws(MediaError) -> OpenFolder {
    try Self.check(segments)
    return try folder(of: segments[...])
  }

  /// The folder with these path segments, none of which may be a link; without any, the root itself.
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

  /// What is said of the regular file with these path segments, without opening it.
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

  /// Looks whether there is a folder with these path segments from which files are served; without any, it is
  /// the root itself.
  ///
  /// - Throws: as `open` does.
  package func requireFolder(_ segments: [String]) throws(MediaError) {
    _ = try openFolder(segments)
  }

  /// Whether the root holds nothing that may be served, or cannot be read: as a mount that is not there.
  package var isEmpty: Bool {
    guard
      let folder = try? OpenFolder(path: path, purpose: Self.openRoot(path)),
      let names = try? folder.names(
        after: nil, limit: 1, purpose: Self.openRoot(path),
        where: { Self.isServed(String(decoding: $0, as: UTF8.self)) })
    else { return true }
    return names.isEmpty
  }

  /// - Throws: `MediaError.notFound` for what is not served, whether it is there or not.
  static func check(_ segments: [String]) throws(MediaError) {
    guard segments.count <= depthLimit else {
      throw .notFound(.tooDeep(segmentCount: segments.count))
    }
    if let index = segments.firstIndex(where: { !isServed($0) }) {
      throw .notFound(.nameNotServed(index: index))
    }
  }

  /// Whether a file or folder of this name may be served: not hidden, and one name only.
  static func isServed(_ segment: String) -> Bool {
    let bytes = segment.utf8
    guard let first = bytes.first, bytes.count <= Int(NAME_MAX) else { return false }
    // A leading dot covers `.` and `..` as well.
    return first != UInt8(ascii: ".") && !bytes.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }

  private static func openRoot(_ path: String) -> String { "open the media folder \(path)" }

  /// What a log line says; quoted, since a name may hold a line feed.
  private static func purpose(_ segments: ArraySlice<String>) -> String {
    "open the media file \(segments.joined(separator: "/").debugDescription)"
  }
}
