import Glibc
import System

/// Uploads that may be continued after an interruption, of the connection or of this process: each has a file with the
/// bytes that came, and a note with what else is to be known, in `UploadFolder`.
///
/// Whoever continues one has its file locked (`flock(2)`), in whichever process. A note is replaced as a whole, and is
/// on the disk before anybody hears of it. An upload whose file is gone and whose note is there is complete.
package struct PartialUploads: Sendable {
  /// How many names are read at a time.
  private static let namesAtOnce = 1_024
  private static let prefix = "part-"
  private static let noteSuffix = ".note"
  private static let purpose = "continue an upload"

  private static var isTaken: SystemError {
    SystemError(call: "openat", purpose: purpose, code: EEXIST)
  }

  private let folder: UploadFolder

  /// Those in this folder.
  package init(_ folder: UploadFolder) { self.folder = folder }

  /// What there is of an upload.
  package enum Taken: Sendable {
    /// Its file, which no other has meanwhile.
    case file(UploadFile)
    /// Another is at it.
    case busy
    /// There is no file of it.
    case nothing
  }

  /// One of them, as it lies there.
  package struct Entry: Sendable {
    /// Its name.
    package let id: String
    /// How many bytes have come; nil where it is complete.
    package let bytes: Int?
    /// What is to be known of it; nil where its making was interrupted.
    package let note: [UInt8]?
    /// When something of it last changed.
    package let changed: Moment
  }

  /// Makes an empty one; when it returns, it is on the disk.
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

  /// Takes one to continue it.
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

  /// What is to be known of one; nil where there is none.
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

  /// Replaces what is to be known of one; when it returns, that is on the disk. To be called by whoever has its file.
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

  /// Removes all there is of one; to be called by whoever has its file, where there is one.
  ///
  /// - Throws: `SystemError`.
  package func remove(_ id: String) throws(SystemError) {
    let open = try folder.open()
    // A file without a note is no upload; a note without a file would be a complete one.
    for suffix in [Self.noteSuffix, Self.noteSuffix + ".new", ""] {
      open.remove(Self.prefix + id + suffix)
    }
    try open.sync()
  }

  /// All there are, in the order of their names; none where the folder is not there.
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
        // Its file comes before its note, if there is one.
        let id = String(decoding: name.dropFirst(Self.prefix.utf8.count), as: UTF8.self)
          .prefix { $0 != "." }
        guard found.last?.id != String(id) else { continue }
        if let entry = try entry(String(id), in: open) { found.append(entry) }
      }
      guard names.count == Self.namesAtOnce else { return found }
      last = names.last
    }
  }

  /// How many bytes have come of each that is not complete.
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
