import Compression
import Glibc
import SQLiteStore

/// Puts a backup in a database's place.
///
/// The backup is unpacked beside the database and read through first; only then is the database, if
/// there is one, replaced: at once, and while nobody has it open. A crash at any moment leaves the old
/// database or the new one.
public struct Restore {
  /// What was restored.
  public struct Report: Sendable {
    /// The database's size.
    public let bytes: Int
    /// Posts in it.
    public let posts: Int
    /// Migrations that the next `serve`, `seed` or `migrate up` applies.
    public let pendingMigrations: [String]
    /// What the check noted, which is no fault.
    public let notes: [String]
  }

  private let database: String
  private let overwrites: Bool

  /// How a SQLite file begins (https://sqlite.org/fileformat2.html#magic_header_string).
  private static let magic = Array("SQLite format 3\u{0}".utf8)
  private static let suffix = ".restoring"

  /// A restore to the path.
  ///
  /// - Parameter overwrite: a database that is there may be replaced.
  public init(to database: String, overwrite: Bool = false) {
    // What a link leads to is replaced, and not the link.
    self.database = DatabaseFile.resolvingLinks(database)
    overwrites = overwrite
  }

  /// Restores the backup, compressed or not, which its content tells and not its name.
  ///
  /// - Throws: `BackupError`, `StoreError`, `FileError`, `GzipError`.
  public func run(from backup: String) throws -> Report {
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
    let bytes = Int(try partial.file.status.st_size)
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
        "\(backup) carries no check sum: it was made by an earlier version, or used since; "
          + "it was read through"
      ]
    case .broken: throw BackupError.checksumDiffers(path: backup)
    }
  }

  private func open(_ backup: String) throws -> Descriptor {
    guard let found = status(of: backup) else {
      if errno == ENOENT { throw BackupError.missing(path: backup) }
      throw FileError("read \(backup)")
    }
    guard found.st_mode & S_IFMT == S_IFREG else {
      throw BackupError.notABackup(path: backup, reason: "it is no regular file")
    }
    return try Descriptor(backup, O_RDONLY)
  }

  private func refuse(_ source: Descriptor) throws {
    guard let existing = status(of: database) else { return }
    let backup = try source.status
    if existing.st_ino == backup.st_ino, existing.st_dev == backup.st_dev {
      throw BackupError.isTheDatabase(path: database)
    }
    guard overwrites else { throw BackupError.exists(path: database) }
  }

  private func unpack(_ source: Descriptor, into target: Descriptor) throws {
    let head = try source.read(at: 0, count: Self.magic.count)
    if head.starts(with: GzipDecoder.magic) {
      let decoder = try GzipDecoder()
      do {
        try readPieces(of: source) { try decoder.decode($0) { try target.write($0) } }
        try decoder.finish()
      } catch let error as GzipError {
        throw BackupError.notABackup(path: source.path, reason: error.description)
      }
    } else if head == Self.magic {
      try readPieces(of: source) { try target.write($0[...]) }
    } else {
      throw BackupError.notABackup(path: source.path, reason: "it is neither SQLite's nor gzip")
    }
    guard try target.read(at: 0, count: Self.magic.count) == Self.magic else {
      throw BackupError.notABackup(path: source.path, reason: "what it holds is not SQLite's")
    }
  }

  /// Who restores as root leaves the database to whom it, or its folder, belongs: else the server
  /// could not write it.
  private func giveOwner(_ partial: PartialFile) throws(FileError) {
    let existing = status(of: database)
    try retrying("set the mode of \(partial.path)") {
      fchmod(partial.file.number, (existing?.st_mode).map { $0 & 0o777 } ?? 0o640)
    }
    guard geteuid() == 0, let owner = existing ?? status(of: DatabaseFile.folder(of: database))
    else { return }
    try retrying("set the owner of \(partial.path)") {
      fchown(partial.file.number, owner.st_uid, owner.st_gid)
    }
  }

  private func replace(with partial: PartialFile) throws {
    if status(of: database) != nil {
      // What only the log holds belongs to the old database for as long as it is there.
      try DatabaseFile.fold(path: database)
    }
    let lock = try DatabaseLock(path: database)
    try withExtendedLifetime(lock) {
      // A log of the old database would be taken for the new one's, and spoil it.
      DatabaseFile.removeCompanions(path: database)
      try syncFolder(of: database)
      try partial.finish()
    }
  }
}
