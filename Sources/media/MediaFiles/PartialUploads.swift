import Glibc
import System

/// Uploads that can be continued after the connection or this process ends. Each has a file with the bytes
/// received and a note with other data, in `UploadFolder`.
///
/// The process that continues an upload holds a lock on its file (`flock(2)`). A note is replaced as a whole
/// and is on disk before a client learns of it. An upload with a note but without a file is complete.
package struct PartialUploads: Sendable {
  /// The number of names read at a time.
  private static let namesAtOnce = 1_024
  private static let prefix = "part-"
  private static let noteSuffix = ".note"
  private static let purpose = "continue an upload"

  private static var isTaken: SystemError {
    SystemError(call: "openat", purpose: purpose, code: EEXIST)
  }

  private let folder: UploadFolder

  /// Creates the uploads in this folder.
  package init(_ folder: UploadFolder) { self.folder = folder }

  /// The state of an upload that a caller wants to continue.
  package enum Taken: Sendable {
    /// The upload's file, which no other caller can take meanwhile.
    case file(UploadFile)
    /// Another caller has the file.
    case busy
    /// There is no such file.
    case nothing
  }

  /// An upload in the folder.
  package struct Entry: Sendable {
    /// The upload's name.
    package let id: String
    /// The number of bytes received; nil if the upload is complete.
    package let bytes: Int?
    /// The upload's note; nil if the creation of the upload was interrupted.
    package let note: [UInt8]?
    /// The time of the last change of the file or the note.
    package let changed: Moment
  }

  /// Creates an empty upload. When the call returns, the upload is on disk.
  ///
  /// - Throws: `SystemError`.
  package func begin(_ id: String, note: [UInt8]) throws(SystemError) -> UploadFile {
    let open = try folder.open()
    let name = Self.prefix + id
    guard let file = try open.makeFile(named: name, purpose: Self.purpose) else {
      throw Self.isTaken
    }
    do throws(SystemError) {
      try write(note, of: id)
    } catch {
      open.remove(name)
      throw error
    }
    return UploadFile(file, name, open, staysUnplaced: true)
  }

  /// Takes an upload to continue it.
  ///
  /// - Throws: `SystemError`.
  package func take(_ id: String) throws(SystemError) -> Taken {
    let open = try folder.open()
    do throws(SystemError) {
      let name = Self.prefix + id
      guard let file = try open.takeFile(named: name, purpose: Self.purpose) else { return .busy }
      return .file(UploadFile(file, name, open, staysUnplaced: true))
    } catch {
      guard error.isAbsence else { throw error }
      return .nothing
    }
  }

  /// Returns the note of an upload; nil if there is none.
  ///
  /// - Throws: `SystemError`.
  package func note(of id: String) throws(SystemError) -> [UInt8]? {
    do throws(SystemError) {
      let name = Self.prefix + id + Self.noteSuffix
      let file = try folder.open().file(named: name, purpose: Self.purpose)
      return try file?.read(at: 0, count: file?.size ?? 0)
    } catch {
      guard error.isAbsence else { throw error }
      return nil
    }
  }

  /// Replaces the note of an upload. When the call returns, the note is on disk. The caller
  /// must have taken the file.
  ///
  /// - Throws: `SystemError`.
  package func write(_ note: [UInt8], of id: String) throws(SystemError) {
    let open = try folder.open()
    let name = Self.prefix + id + Self.noteSuffix
    let new = name + ".new"
    guard let file = try open.makeFile(named: new, purpose: Self.purpose) else {
      throw Self.isTaken
    }
    do throws(SystemError) {
      try file.write(note[...], at: 0)
      try file.sync()
      try open.rename(new, to: name, purpose: Self.purpose)
      try open.sync()
    } catch {
      open.remove(new)
      throw error
    }
  }

  /// Removes an upload. The caller must have taken its file, if there is one.
  ///
  /// - Throws: `SystemError`.
  package func remove(_ id: String) throws(SystemError) {
    let open = try folder.open()
    // The note goes first: a file without a note is no upload, but a note without a file is a complete one.
    for suffix in [Self.noteSuffix, Self.noteSuffix + ".new", ""] {
      open.remove(Self.prefix + id + suffix)
    }
    try open.sync()
  }

  /// Returns all uploads in the order of their names; none if the folder does not exist.
  ///
  /// - Throws: `SystemError`.
  package func all() throws(SystemError) -> [Entry] {
    let top = try OpenFolder(path: folder.root.path, purpose: Self.purpose)
    guard let open = try? top.folder(named: UploadFolder.name, purpose: "") else { return [] }
    var found: [Entry] = []
    var last: [UInt8]?
    while true {
      let names = try open.names(after: last, limit: Self.namesAtOnce, purpose: Self.purpose) {
        $0.starts(with: Self.prefix.utf8)
      }
      for name in names {
        // The upload's file, if there is one, comes before its note.
        let id = String(decoding: name.dropFirst(Self.prefix.utf8.count), as: UTF8.self)
          .prefix { $0 != "." }
        guard found.last?.id != String(id) else { continue }
        if let entry = try entry(String(id), in: open) { found.append(entry) }
      }
      guard names.count == Self.namesAtOnce else { return found }
      last = names.last
    }
  }

  /// Returns the number of bytes received of each incomplete upload.
  ///
  /// - Throws: `SystemError`.
  package func sizes() throws(SystemError) -> [Int] {
    let top = try OpenFolder(path: folder.root.path, purpose: Self.purpose)
    guard let open = try? top.folder(named: UploadFolder.name, purpose: "") else { return [] }
    var sizes: [Int] = []
    var last: [UInt8]?
    while true {
      let names = try open.names(after: last, limit: Self.namesAtOnce, purpose: Self.purpose) {
        $0.starts(with: Self.prefix.utf8)
      }
      for name in names where !name.contains(UInt8(ascii: ".")) {
        let status = try? open.status(of: String(decoding: name, as: UTF8.self), purpose: "")
        if let status { sizes.append(status.bytes) }
      }
      guard names.count == Self.namesAtOnce else { return sizes }
      last = names.last
    }
  }

  private func entry(_ id: String, in open: OpenFolder) throws(SystemError) -> Entry? {
    let name = Self.prefix + id
    let file = try? open.status(of: name, purpose: "")
    let noted = try? open.status(of: name + Self.noteSuffix, purpose: "")
    guard let changed = file?.changed ?? noted?.changed else { return nil }
    return Entry(
      id: id, bytes: file?.bytes, note: try note(of: id),
      changed: max(changed, noted?.changed ?? changed))
  }
}
