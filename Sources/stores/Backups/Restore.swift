import Compression
import Glibc
import SQLiteStore
import System

/// Replaces a database with a backup.
///
/// The backup is first unpacked beside the database and verified. Only then does it replace the database,
/// if there is one: at once, and while no process has it open. A crash at any moment leaves the old
/// database or the new one.
package struct Restore {
  /// The result of a restore.
  package struct Report: Sendable {
    /// The database's size.
    package let bytes: Int
    /// The number of posts.
    package let posts: Int
    /// The migrations that the next `serve`, `seed` or `migrate up` applies.
    package let pendingMigrations: [String]
    /// The notes of the check, which are not faults.
    package let notes: [String]
  }

  private let database: String
  private let overwrites: Bool

  /// The first bytes of a SQLite file (https://sqlite.org/fileformat2.html#magic_header_string).
  private static let magic = Array("SQLite format 3\u{0}".utf8)
  private static let suffix = ".restoring"

  /// Creates a restore to the path.
  ///
  /// - Parameter overwrite: whether an existing database may be replaced.
  package init(to database: String, overwrite: Bool = false) {
    // The target of a link is replaced, not the link.
    self.database = DatabaseFile.resolvingLinks(database)
    overwrites = overwrite
  }

  /// Restores the backup. Its content, not its name, says whether it is compressed.
  ///
  /// - Throws: `BackupError`, `StoreError`, `SystemError`, `GzipError`.
  package func run(from backup: String) throws -> Report {
    let source = try open(backup)
    try refuse(source)
    // Throws before the work if the database is in use, and not only after it.
    _ = try DatabaseLock(path: database)
    let partial = try PartialFile(for: database, suffix: Self.suffix)
    try unpack(source, into: partial.file)
    let sealNotes = try breakSeal(of: partial.file, from: backup)
    try partial.file.sync()
    let report = try DatabaseCopy(of: backup, at: partial.path).verify()
    guard report.errors.isEmpty else {
      throw BackupError.notSound(path: backup, findings: report.errors)
    }
    let bytes = try partial.file.status.bytes
    try giveOwner(partial)
    try replace(with: partial)
    return Report(
      bytes: bytes, posts: report.posts, pendingMigrations: report.pendingMigrations,
      notes: sealNotes + report.findings.map(\.text))
  }

  /// Checks that what was unpacked is what was backed up, and removes the seal.
  ///
  /// - Returns: notes for the report.
  private func breakSeal(of file: Descriptor, from backup: String) throws -> [String] {
    switch try BackupSeal.look(at: file) {
    case .whole(let databaseBytes):
      try file.cut(to: databaseBytes)
      return []
    case .none:
      return [
        "\(backup) has no checksum: it was made by an earlier version, or used since; "
          + "its content was checked instead"
      ]
    case .broken: throw BackupError.checksumDiffers(path: backup)
    }
  }

  private func open(_ backup: String) throws -> Descriptor {
    do {
      guard try FileStatus(path: backup).isRegularFile else {
        throw BackupError.notABackup(path: backup, reason: "it is not a regular file")
      }
    } catch let error as SystemError where error.code == ENOENT {
      throw BackupError.missing(path: backup)
    }
    return try Descriptor(backup)
  }

  private func refuse(_ source: Descriptor) throws {
    guard let existing = try? FileStatus(path: database) else { return }
    if try source.status.number == existing.number {
      throw BackupError.isTheDatabase(path: database)
    }
    guard overwrites else { throw BackupError.exists(path: database) }
  }

  private func unpack(_ source: Descriptor, into target: Descriptor) throws {
    let head = try source.read(at: 0, count: Self.magic.count)
    if head.starts(with: GzipDecoder.magic) {
      let decoder = try GzipDecoder()
      do {
        try source.readPieces { try decoder.decode($0) { try target.write($0) } }
        try decoder.finish()
      } catch let error as GzipError {
        throw BackupError.notABackup(path: source.path, reason: error.description)
      }
    } else if head == Self.magic {
      try source.readPieces { try target.write($0[...]) }
    } else {
      throw BackupError.notABackup(path: source.path, reason: "it is not a SQLite or gzip file")
    }
    guard try target.read(at: 0, count: Self.magic.count) == Self.magic else {
      throw BackupError.notABackup(path: source.path, reason: "its content is not a SQLite file")
    }
  }

  /// Gives the file its permissions and, as root, its owner: those of the old database, or the owner of its
  /// folder. Otherwise the server could not write the database.
  private func giveOwner(_ partial: PartialFile) throws(SystemError) {
    let existing = try? FileStatus(path: database)
    try partial.file.setPermissions(existing?.permissions ?? 0o640)
    guard User.isRoot else { return }
    let whose: FileStatus
    if let existing {
      whose = existing
    } else {
      whose = try FileStatus(path: DatabaseFile.folder(of: database))
    }
    try partial.file.setOwner(whose.owner, group: whose.group)
  }

  private func replace(with partial: PartialFile) throws {
    if (try? FileStatus(path: database)) != nil {
      // Until the old database is replaced, what only the WAL holds belongs to it.
      try DatabaseFile.fold(path: database)
    }
    let lock = try DatabaseLock(path: database)
    try withExtendedLifetime(lock) {
      // A WAL of the old database would be taken for the new one's, and damage it.
      try DatabaseFile.removeCompanions(path: database)
      try FileSystem.sync(folder: DatabaseFile.folder(of: database))
      try partial.finish()
    }
  }
}
