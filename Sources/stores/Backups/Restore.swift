import Compression
import Glibc
import SQLiteStore
import System

/// Replaces a database with a backup.
///
/// The backup is unpacked beside the database and read through first; only then does it replace the
/// database, if there is one: at once, and while no process has it open. A crash at any moment leaves the
/// old database or the new one.
package struct Restore {
  /// What was restored.
  package struct Report: Sendable {
    /// The database's size.
    package let bytes: Int
    /// Posts in it.
    package let posts: Int
    /// Migrations that the next `serve`, `seed` or `migrate up` applies.
    package let pendingMigrations: [String]
    /// What the check noted, which is no fault.
    package let notes: [String]
  }

  private let database: String
  private let overwrites: Bool

  /// How a SQLite file begins (https://sqlite.org/fileformat2.html#magic_header_string).
  private static let magic = Array("SQLite format 3\u{0}".utf8)
  private static let suffix = ".restoring"

  /// A restore to the path.
  ///
  /// - Parameter overwrite: a database that is there may be replaced.
  package init(to database: String, overwrite: Bool = false) {
    // What a link leads to is replaced, and not the link.
    self.database = DatabaseFile.resolvingLinks(database)
    overwrites = overwrite
  }

  /// Restores the backup, compressed or not, which its content tells and not its name.
  ///
  /// - Throws: `BackupError`, `StoreError`, `SystemError`, `GzipError`.
  package func run(from backup: String) throws -> Report {
    let source = try open(backup)
    try refuse(source)
    // Said before the work and not only after it.
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

  /// Sees that what was unpacked is what was backed up, and takes the seal off.
  ///
  /// - Returns: what is to be noted.
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

  /// A restore as root gives the database to the owner of the old one, or of its folder: otherwise the server
  /// could not write it.
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
      // What only the WAL holds belongs to the old database for as long as it is there.
      try DatabaseFile.fold(path: database)
    }
    let lock = try DatabaseLock(path: database)
    try withExtendedLifetime(lock) {
      // A WAL of the old database would be taken for the new one's, and spoil it.
      try DatabaseFile.removeCompanions(path: database)
      try FileSystem.sync(folder: DatabaseFile.folder(of: database))
      try partial.finish()
    }
  }
}
