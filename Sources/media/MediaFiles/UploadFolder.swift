import System

/// Where files lie that are on their way into a media root: a hidden folder in it, and so on the same file system,
/// of which nothing is served.
///
/// A file in it is locked (`flock(2)`) as long as a process writes it, whichever host or program that is: what is
/// not locked, a process left behind that was killed.
package struct UploadFolder: Sendable {
  /// What the folder is called.
  package static let name = ".uploads"
  private static let prefix = "put-"
  private static let lockName = "lock"
  /// How many paths are told apart by their locks; of two with the same, one waits for the other without need.
  private static let locks: UInt64 = 1 << 30

  let root: MediaRoot

  /// That of this root; it is made when something is written to it.
  package init(_ root: MediaRoot) { self.root = root }

  /// A new empty file, which is removed with the value unless it was placed.
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

  /// Keeps others, of this process and of any other on the same folder, from placing a file at this path as long as
  /// what is returned exists.
  ///
  /// - Throws: `SystemError`.
  package func lock(_ segments: [String]) throws(SystemError) -> Descriptor {
    let file = try open().keepFile(named: Self.lockName, purpose: "lock a media file's name")
    // FNV-1a: the same in each process.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in segments.joined(separator: "/").utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    let place = Int(hash % Self.locks)
    try file.waitToLockBytes(place..<place + 1)
    return file
  }

  /// Removes what processes left behind that were killed; returns how many files.
  @discardableResult
  package func sweep() throws(SystemError) -> Int { try sweep(isDry: false).files }

  /// Removes what processes left behind that were killed, or in a dry run looks what there is.
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

  /// The folder, made where it is absent.
  func open() throws(SystemError) -> OpenFolder {
    let top = try OpenFolder(path: root.path, purpose: "open the media folder \(root.path)")
    return try top.makeFolder(
      named: Self.name, purpose: "make the folder \(Self.name) in the media folder \(root.path)")
  }
}

/// A file on its way into a media root: it is not served until it is placed, and if it never is, nothing is left, but of
/// one that may be continued.
package final class UploadFile: Sendable {
  /// Where it is written.
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

  // Once it is placed, nothing has this name.
  deinit { if !staysUnplaced { folder.remove(name) } }

  /// Takes the name away that it has as long as it is not placed.
  package func remove() { folder.remove(name) }

  /// Lets the file, which must be whole and on the disk, have this path in the root, in place of the file that had
  /// it; folders are made as needed. When it returns, the name is on the disk, too.
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

/// What is in the way of a file at a path.
package enum MediaPlaceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path has no segments.
  case noName
  /// What would be a folder above it is a file, a link or the like.
  case folderIsNone([String])
  /// A folder has the name.
  case isFolder([String])
  /// A link, a pipe or the like has the name.
  case isNoFile([String])
  /// No object can have so long a key.
  case longKey(bytes: Int, limit: Int)

  /// A sentence.
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

/// What has a name in a folder.
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
  /// Takes the name of the file with these path segments away; who has it open reads on. When it returns, that is on
  /// the disk. Folders stay.
  ///
  /// - Throws: `MediaError`, `SystemError`.
  package func delete(_ segments: [String]) throws {
    let folder = try folder(of: segments.dropLast())
    let path = segments.joined(separator: "/").debugDescription
    try folder.delete(segments.last ?? "", purpose: "delete the media file \(path)")
    try folder.sync()
  }

  /// What is said of the file with these path segments; nil where there is nothing.
  ///
  /// - Throws: `MediaPlaceError` where no file can be placed there, `SystemError`.
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
