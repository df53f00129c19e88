import Glibc
import SQLiteStore

/// A folder that holds a series of backups of one database: numbered, the newest kept.
public struct BackupFolder: Sendable {
  /// One of the series.
  public struct Entry: Sendable {
    /// Its name.
    public let name: BackupName
    /// Where it is.
    public let path: String
    /// Its size.
    public let bytes: Int
    /// When it was finished, as the clock had it.
    public let modifiedSecondsSince1970: Int
  }

  /// The folder's path.
  public let path: String
  private let series: String

  /// The folder of the backups of a database.
  public init(path: String, database: String) {
    self.path = path
    series = BackupName.series(ofDatabase: database)
  }

  /// Sees that backups can be written there.
  ///
  /// - Throws: `FileError`.
  public func requireUsable() throws(FileError) {
    guard let found = status(of: path) else { throw FileError("use the backup folder \(path)") }
    guard found.st_mode & S_IFMT == S_IFDIR else {
      throw FileError("use the backup folder \(path)", code: ENOTDIR)
    }
    guard access(path, W_OK | X_OK) == 0 else {
      throw FileError("write to the backup folder \(path)")
    }
  }

  /// The backups of the series, the oldest first.
  ///
  /// - Throws: `FileError`.
  public func entries() throws(FileError) -> [Entry] {
    try names().compactMap { text in
      guard let name = BackupName(text, series: series) else { return nil }
      let path = "\(path)/\(text)"
      guard let found = status(of: path), found.st_mode & S_IFMT == S_IFREG else { return nil }
      return Entry(
        name: name, path: path, bytes: Int(found.st_size),
        modifiedSecondsSince1970: found.st_mtim.tv_sec)
    }.sorted { $0.name.number < $1.name.number }
  }

  /// Where the next one is to be made.
  func nextPath(secondsSince1970: Int, isCompressed: Bool) throws(FileError) -> String {
    let name = BackupName(
      series: series, number: (try entries().last?.name.number ?? 0) + 1,
      secondsSince1970: secondsSince1970, isCompressed: isCompressed)
    return "\(path)/\(name.text)"
  }

  /// Makes the next backup of the series, and lets go of the oldest beyond so many.
  ///
  /// - Throws: what `Backup.make` throws, and `BackupError.isBeingMade` where another program makes
  ///   one of the folder.
  public func add(_ backup: Backup, secondsSince1970: Int, keeping kept: Int) throws
    -> Backup.Report
  {
    precondition(kept >= 1, "no backup would be kept")
    // Whoever else makes one waits for its turn, or finds that it is made.
    let lock = try Descriptor(path, O_RDONLY | O_DIRECTORY)
    guard flock(lock.number, LOCK_EX | LOCK_NB) == 0 else {
      throw BackupError.isBeingMade(path: path)
    }
    try removeStale()
    let next = try nextPath(secondsSince1970: secondsSince1970, isCompressed: backup.isCompressed)
    let report = try backup.make(at: next)
    for entry in try entries().dropLast(kept) { unlink(entry.path) }
    return report
  }

  /// What killed programs left of this series.
  private func removeStale() throws(FileError) {
    for name in try names() {
      for suffix in PartialFile.suffixes where name.hasSuffix(suffix) {
        guard BackupName(String(name.dropLast(suffix.count)), series: series) != nil else {
          continue
        }
        PartialFile.removeStale("\(path)/\(name)")
      }
    }
  }

  private func names() throws(FileError) -> [String] {
    guard let folder = opendir(path) else { throw FileError("read the backup folder \(path)") }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names
  }
}
