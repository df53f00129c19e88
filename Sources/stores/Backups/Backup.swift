import Compression
import Glibc
import SQLiteStore
import Synchronization
import System

/// Makes one backup of a database that is being used.
///
/// It is copied under another name beside where it will be, read through, sealed with a check sum,
/// compressed where that is wished, brought to the disk, and then given its name: a file with a backup's
/// name is a backup.
package final class Backup: Sendable {
  /// What was made.
  package struct Report: Sendable {
    /// Where it is.
    package let path: String
    /// Its size.
    package let bytes: Int
    /// The database's size in it.
    package let databaseBytes: Int
    /// Posts in it.
    package let posts: Int
    /// What the check noted, which is no fault.
    package let notes: [String]
  }

  private let database: String
  private let options: DatabaseFile.Options
  /// Whether it is made as gzip.
  package let isCompressed: Bool
  private let overwrites: Bool
  private let state = Mutex<(isCancelled: Bool, copy: DatabaseCopy?)>((false, nil))

  /// What is put behind the name of a compressed one.
  package static let compressedSuffix = ".gz"
  /// After this many bytes the copy waits for the disk, so that other processes' writes, which wait for the disk
  /// as well, find little before them.
  private static let bytesBetweenSyncs = 16 << 20

  /// A backup that has yet to be made.
  ///
  /// - Parameters:
  ///   - database: the database's path.
  ///   - compress: as gzip; the name then ends in `.gz`.
  ///   - overwrite: what is at the path may be replaced.
  package init(
    of database: String, options: DatabaseFile.Options = DatabaseFile.Options(),
    compress: Bool = false, overwrite: Bool = false
  ) {
    self.database = database
    self.options = options
    isCompressed = compress
    overwrites = overwrite
  }

  /// Where a backup lies that is to be made at the path.
  package func destination(_ path: String) -> String {
    isCompressed && !path.hasSuffix(Self.compressedSuffix) ? path + Self.compressedSuffix : path
  }

  /// Makes the backup. Whatever was answered before this is called is in it.
  ///
  /// - Throws: `BackupError`, `StoreError`, `SystemError`, `GzipError`, `DatabaseCopyCancelled`; then
  ///   nothing of it is left, and what was at the path is as it was.
  package func make(at path: String) throws -> Report {
    let path = destination(path)
    try refuse(path)
    let copied = try PartialFile(
      for: path, suffix: isCompressed ? PartialFile.copySuffix : PartialFile.suffix)
    let report = try copy(into: copied)
    let databaseBytes = try copied.file.status.bytes
    try seal(copied.file, databaseBytes: databaseBytes)
    var bytes = try copied.file.status.bytes
    if isCompressed {
      let compressed = try PartialFile(for: path)
      try compress(copied.file, into: compressed.file)
      bytes = try compressed.file.status.bytes
      try refuse(path)
      try compressed.finish()
      copied.discard()
    } else {
      try refuse(path)
      try copied.finish()
    }
    return Report(
      path: path, bytes: bytes, databaseBytes: databaseBytes, posts: report.posts,
      notes: report.findings.map(\.text))
  }

  /// Makes a running `make` end soon, with `DatabaseCopyCancelled`, and any later one at once. For any
  /// thread.
  package func cancel() {
    let copy = state.withLock { state in
      state.isCancelled = true
      return state.copy
    }
    copy?.cancel()
  }

  private func refuse(_ path: String) throws {
    guard let existing = try? FileStatus(path: path) else { return }
    if let database = try? FileStatus(path: database), database.number == existing.number {
      throw BackupError.isTheDatabase(path: path)
    }
    guard existing.isRegularFile else {
      throw SystemError(
        call: "open", purpose: "write \(path)", code: existing.isFolder ? EISDIR : EEXIST)
    }
    guard overwrites else { throw BackupError.exists(path: path) }
  }

  private func copy(into partial: PartialFile) throws -> DatabaseCopy.Report {
    let copy = DatabaseCopy(of: database, at: partial.path, options: options)
    try state.withLock { state in
      if state.isCancelled { throw DatabaseCopyCancelled() }
      state.copy = copy
    }
    defer { state.withLock { $0.copy = nil } }
    var syncedBytes = 0
    try copy.make { _ in
      let bytes = try partial.file.status.bytes
      guard bytes - syncedBytes >= Self.bytesBetweenSyncs else { return }
      try partial.file.syncData()
      syncedBytes = bytes
    }
    try partial.file.sync()
    let report = try copy.verify()
    guard report.errors.isEmpty else {
      throw BackupError.notSound(path: "the copy of \(database)", findings: report.errors)
    }
    return report
  }

  /// Puts the check sum of what was read through behind it.
  private func seal(_ file: Descriptor, databaseBytes: Int) throws {
    let seal = try BackupSeal(of: file, databaseBytes: databaseBytes)
    try file.write(seal.bytes[...], at: databaseBytes)
    try file.sync()
  }

  private func compress(_ source: Descriptor, into target: Descriptor) throws {
    let encoder = try GzipEncoder()
    var writtenBytes = 0
    var syncedBytes = 0
    try source.readPieces { piece in
      if state.withLock({ $0.isCancelled }) { throw DatabaseCopyCancelled() }
      try encoder.encode(piece) {
        try target.write($0)
        writtenBytes += $0.count
      }
      guard writtenBytes - syncedBytes >= Self.bytesBetweenSyncs else { return }
      try target.syncData()
      syncedBytes = writtenBytes
    }
    try encoder.finish { try target.write($0) }
    try readBack(target, asCopyOf: source)
  }

  /// What was compressed was verified before: sees that the very same comes back.
  private func readBack(_ compressed: Descriptor, asCopyOf source: Descriptor) throws {
    let decoder = try GzipDecoder()
    var offset = 0
    try compressed.readPieces { piece in
      if state.withLock({ $0.isCancelled }) { throw DatabaseCopyCancelled() }
      try decoder.decode(piece) { bytes in
        guard try source.read(at: offset, count: bytes.count)[...] == bytes else {
          throw BackupError.readBackDiffers(path: compressed.path)
        }
        offset += bytes.count
      }
    }
    try decoder.finish()
    let sourceBytes = try source.status.bytes
    guard offset == sourceBytes else {
      throw BackupError.readBackDiffers(path: compressed.path)
    }
  }
}

extension Backup {
  /// Reads a backup through as it lies, with its check sum, and writes nothing.
  ///
  /// - Returns: what is in it; nil if the file is not a sealed backup, or is absent.
  /// - Throws: `BackupError.checksumDiffers`, `StoreError`, `SystemError`.
  package static func examine(_ path: String) throws -> DatabaseCopy.Report? {
    guard let file = try sealed(path) else { return nil }
    guard case .whole = try BackupSeal.look(at: file) else {
      throw BackupError.checksumDiffers(path: path)
    }
    return try DatabaseCopy(of: path, at: path).verify()
  }

  /// - Throws: `BackupError.isABackup` for a sealed backup: what opens it takes the seal off.
  package static func requireNone(at path: String) throws {
    if try sealed(path) != nil { throw BackupError.isABackup(path: path) }
  }

  /// The file, where it ends in a seal; what cannot be opened is for others to tell.
  private static func sealed(_ path: String) throws -> Descriptor? {
    guard let found = try? FileStatus(path: path), found.isRegularFile,
      let file = try? Descriptor(path), try BackupSeal.isThere(in: file)
    else { return nil }
    return file
  }
}
