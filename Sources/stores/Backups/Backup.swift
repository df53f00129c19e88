import Compression
import Glibc
import SQLiteStore
import Synchronization
import System

/// Makes one backup of a database in use.
///
/// The database is copied under another name beside the destination, verified, sealed with a checksum,
/// compressed if requested, synced to the disk, and then given its name: a file with a backup's name is a
/// complete backup.
package final class Backup: Sendable {
  /// The result of a backup.
  package struct Report: Sendable {
    /// The backup's path.
    package let path: String
    /// The backup's size.
    package let bytes: Int
    /// The database's size in the backup.
    package let databaseBytes: Int
    /// The number of posts in the backup.
    package let posts: Int
    /// The notes of the check, which are not faults.
    package let notes: [String]
  }

  private let database: String
  private let options: DatabaseFile.Options
  /// Whether the backup is compressed with gzip.
  package let isCompressed: Bool
  private let overwrites: Bool
  private let state = Mutex<(isCancelled: Bool, copy: DatabaseCopy?)>((false, nil))

  /// The suffix of the name of a compressed backup.
  package static let compressedSuffix = ".gz"
  /// The number of bytes after which the copy waits for the disk, so that other processes' writes, which
  /// wait for the disk as well, find little before them.
  private static let bytesBetweenSyncs = 16 << 20

  /// Creates a backup that has yet to be made.
  ///
  /// - Parameters:
  ///   - database: the database's path.
  ///   - compress: whether to compress with gzip; the name then ends in `.gz`.
  ///   - overwrite: whether an existing file at the path may be replaced.
  package init(
    of database: String, options: DatabaseFile.Options = DatabaseFile.Options(),
    compress: Bool = false, overwrite: Bool = false
  ) {
    self.database = database
    self.options = options
    isCompressed = compress
    overwrites = overwrite
  }

  /// Returns the final path of a backup that is to be made at the path.
  package func destination(_ path: String) -> String {
    isCompressed && !path.hasSuffix(Self.compressedSuffix) ? path + Self.compressedSuffix : path
  }

  /// Makes the backup. It contains everything that was acknowledged before the call.
  ///
  /// - Throws: `BackupError`, `StoreError`, `SystemError`, `GzipError`, `DatabaseCopyCancelled`; then
  ///   nothing of the backup is left, and the file at the path is unchanged.
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

  /// Makes a running `make` end soon, with `DatabaseCopyCancelled`, and any later one at once. May be
  /// called by any thread.
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

  /// Writes the checksum of the verified content after it.
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

  /// Checks that decompression returns the source, which was verified before.
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
  /// Verifies a backup where it is, with its checksum, and writes nothing.
  ///
  /// - Returns: the content of the backup; nil if the file is not a sealed backup, or is absent.
  /// - Throws: `BackupError.checksumDiffers`, `StoreError`, `SystemError`.
  package static func examine(_ path: String) throws -> DatabaseCopy.Report? {
    guard let file = try sealed(path) else { return nil }
    guard case .whole = try BackupSeal.look(at: file) else {
      throw BackupError.checksumDiffers(path: path)
    }
    return try DatabaseCopy(of: path, at: path).verify()
  }

  /// Checks that the file is not a backup.
  ///
  /// - Throws: `BackupError.isABackup` for a sealed backup: opening it removes the seal.
  package static func requireNone(at path: String) throws {
    if try sealed(path) != nil { throw BackupError.isABackup(path: path) }
  }

  /// Returns the file if it ends in a seal. Other code reports a file that cannot be opened.
  private static func sealed(_ path: String) throws -> Descriptor? {
    guard let found = try? FileStatus(path: path), found.isRegularFile,
      let file = try? Descriptor(path), try BackupSeal.isThere(in: file)
    else { return nil }
    return file
  }
}
