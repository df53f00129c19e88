import System

/// The folder of files that are being uploaded into a media root. It is a hidden folder in the root, so it is
/// on the same file system and not served.
///
/// A process locks the file that it writes (`flock(2)`), on any host. An unlocked file was left
/// behind by a killed process.
package struct UploadFolder: Sendable {
  /// The folder's name.
  package static let name = ".uploads"
  private static let prefix = "put-"
  private static let lockName = "lock"
  /// The number of lock positions, selected by a hash of the path. Two paths with the same position wait for
  /// each other without need.
  private static let locks: UInt64 = 1 << 30

  let root: MediaRoot

  /// Creates the upload folder of a root; the directory is created on the first write.
  package init(_ root: MediaRoot) { self.root = root }

  /// Creates an empty file, which is removed with the returned value unless it is placed.
  ///
  /// - Throws: `SystemError`.
  package func begin() throws(SystemError) -> UploadFile {
    let folder = try open()
    while true {
      let name = Self.prefix + String(UInt64.random(in: .min ... .max), radix: 36)
      if let file = try folder.makeFile(named: name, purpose: "store a media file") {
        return UploadFile(file, name, folder)
      }
    }
  }

  /// Prevents others, in this process and in any other with the same folder, from placing a file at this path
  /// while the returned descriptor exists.
  ///
  /// - Throws: `SystemError`.
  package func lock(_ segments: [String]) throws(SystemError) -> Descriptor {
    let file = try open().keepFile(named: Self.lockName, purpose: "lock a media file's name")
    // FNV-1a, which is the same in each process.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in segments.joined(separator: "/").utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    let place = Int(hash % Self.locks)
    try file.waitToLockBytes(place..<place + 1)
    return file
  }

  /// Removes files left behind by killed processes; returns their number.
  @discardableResult
  package func sweep() throws(SystemError) -> Int { try sweep(isDry: false).files }

  /// Removes files left behind by killed processes; a dry run only counts them.
  package func sweep(isDry: Bool) throws(SystemError) -> (files: Int, bytes: Int) {
    let top = try OpenFolder(path: root.path, purpose: "open the media folder \(root.path)")
    guard let folder = try? top.folder(named: Self.name, purpose: "") else { return (0, 0) }
    var found = (files: 0, bytes: 0)
    var last: [UInt8]?
    while true {
      let names = try folder.names(after: last, limit: 1024, purpose: "read a folder") {
        $0.starts(with: Self.prefix.utf8)
      }
      for name in names.map({ String(decoding: $0, as: UTF8.self) }) {
        let file: Descriptor?
        do throws(SystemError) {
          file = try folder.takeFile(named: name, purpose: "remove an unfinished media file")
        } catch  where error.isAbsence {
          continue
        }
        guard let file else { continue }
        found.files += 1
        found.bytes += try file.status.bytes
        if !isDry { folder.remove(name) }
      }
      guard names.count == 1024 else { return found }
      last = names.last
    }
  }

  /// Opens the folder; creates it if it is absent.
  func open() throws(SystemError) -> OpenFolder {
    let top = try OpenFolder(path: root.path, purpose: "open the media folder \(root.path)")
    return try top.makeFolder(
      named: Self.name, purpose: "make the folder \(Self.name) in the media folder \(root.path)")
  }
}

/// A file being uploaded into a media root. It is not served until it is placed. A file that is never placed
/// is removed, unless it belongs to an upload that can be continued.
package final class UploadFile: Sendable {
  /// The descriptor to write to.
  package let descriptor: Descriptor
  private let name: String
  private let folder: OpenFolder
  private let staysUnplaced: Bool

  init(
    _ descriptor: Descriptor, _ name: String, _ folder: OpenFolder, staysUnplaced: Bool = false
  ) {
    self.descriptor = descriptor
    self.name = name
    self.folder = folder
    self.staysUnplaced = staysUnplaced
  }

  // After the file is placed, nothing has this name.
  deinit { if !staysUnplaced { folder.remove(name) } }

  /// Removes the temporary name of an unplaced file.
  package func remove() { folder.remove(name) }

  /// Gives the file this path in the root, in place of the file that had it; creates folders as needed. The
  /// file must be complete and on disk. When the call returns, the name is on disk, too.
  ///
  /// - Throws: `MediaPlaceError`, `SystemError`.
  package func place(at segments: [String], in root: MediaRoot) throws {
    guard let last = segments.last else { throw MediaPlaceError.noName }
    let purpose = "write the media file \(segments.joined(separator: "/").debugDescription)"
    var folder = try OpenFolder(path: root.path, purpose: "open the media folder \(root.path)")
    var changed: [OpenFolder] = []
    for (index, segment) in segments.dropLast().enumerated() {
      switch try MediaPlace(of: segment, in: folder) {
      case .folder: folder = try folder.folder(named: segment, purpose: purpose)
      case .nothing:
        changed.append(folder)
        folder = try folder.makeFolder(named: segment, purpose: purpose)
      case .file, .other: throw MediaPlaceError.folderIsNone(Array(segments[...index]))
      }
    }
    switch try MediaPlace(of: last, in: folder) {
    case .nothing, .file: break
    case .folder: throw MediaPlaceError.isFolder(segments)
    case .other: throw MediaPlaceError.isNoFile(segments)
    }
    try self.folder.move(name, to: folder, as: last, purpose: purpose)
    for folder in changed + [folder] { try folder.sync() }
  }
}

/// The reason why no file can be placed at a path.
package enum MediaPlaceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path has no segments.
  case noName
  /// A parent of the path is a file, a link or the like.
  case folderIsNone([String])
  /// The path is that of a folder.
  case isFolder([String])
  /// The path is that of a link, a pipe or the like.
  case isNoFile([String])
  /// The key is longer than the store allows.
  case longKey(bytes: Int, limit: Int)

  /// The error as a sentence.
  package var description: String {
    switch self {
    case .noName: "The path is empty."
    case .folderIsNone(let segments):
      "\(Self.quoted(segments)) is not a folder, so it cannot contain a file."
    case .isFolder(let segments):
      "\(Self.quoted(segments)) is a folder, so a file cannot have its name."
    case .longKey(let bytes, let limit):
      "The object's key would have \(bytes) bytes, more than \(limit)."
    case .isNoFile(let segments):
      "\(Self.quoted(segments)) is a link or a special file: it is neither followed nor replaced."
    }
  }

  private static func quoted(_ segments: [String]) -> String {
    segments.joined(separator: "/").debugDescription
  }
}

/// The kind of the entry with a name in a folder.
private enum MediaPlace {
  case nothing, file, folder, other

  init(of name: String, in folder: OpenFolder) throws(SystemError) {
    do throws(SystemError) {
      let status = try folder.status(of: name, purpose: "inspect a media file")
      self = status.isRegularFile ? .file : status.isFolder ? .folder : .other
    } catch {
      guard error.isAbsence else { throw error }
      self = .nothing
    }
  }
}

extension MediaRoot {
  /// Removes the name of the file with these path segments; processes that have it open can go on reading.
  /// When the call returns, the removal is on disk. Folders stay.
  ///
  /// - Throws: `MediaError`, `SystemError`.
  package func delete(_ segments: [String]) throws {
    let folder = try folder(of: segments.dropLast())
    let path = segments.joined(separator: "/").debugDescription
    try folder.delete(segments.last ?? "", purpose: "delete the media file \(path)")
    try folder.sync()
  }

  /// Returns the status of the file with these path segments; nil if there is none.
  ///
  /// - Throws: `MediaPlaceError` if no file can be placed there, `SystemError`.
  package func statusForPlacing(_ segments: [String]) throws -> FileStatus? {
    guard let last = segments.last else { throw MediaPlaceError.noName }
    var folder = try OpenFolder(path: path, purpose: "open the media folder \(path)")
    for (index, segment) in segments.dropLast().enumerated() {
      switch try MediaPlace(of: segment, in: folder) {
      case .folder: folder = try folder.folder(named: segment, purpose: "open a folder")
      case .nothing: return nil
      case .file, .other: throw MediaPlaceError.folderIsNone(Array(segments[...index]))
      }
    }
    switch try MediaPlace(of: last, in: folder) {
    case .nothing: return nil
    case .file: return try folder.status(of: last, purpose: "inspect a media file")
    case .folder: throw MediaPlaceError.isFolder(segments)
    case .other: throw MediaPlaceError.isNoFile(segments)
    }
  }
}
