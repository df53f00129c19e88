import Glibc
import SQLiteStore
import System

/// A folder that holds a series of backups of one database: numbered, the newest kept.
package struct BackupFolder: Sendable {
  /// One of the series.
  package struct Entry: Sendable {
    /// Its name.
    package let name: BackupName
    /// Where it is.
    package let path: String
    /// Its size.
    package let bytes: Int
    /// When it was finished, as the clock had it.
    package let modifiedSecondsSince1970: Int
  }

  /// The folder's path.
  package let path: String
  private let series: String

  /// The folder of the backups of a database.
  package init(path: String, database: String) {
    self.path = path
    series = BackupName.series(ofDatabase: database)
  }

  /// Sees that backups can be written there.
  ///
  /// - Throws: `SystemError`.
  package func requireUsable() throws(SystemError) {
    guard try FileStatus(path: path).isFolder else {
      throw SystemError(call: "stat", purpose: "use the backup folder \(path)", code: ENOTDIR)
    }
    try FileSystem.require([.writing, .entering], path)
  }

  /// The backups of the series, the oldest first.
  ///
  /// - Throws: `SystemError`.
  package func entries() throws(SystemError) -> [Entry] {
    try FileSystem.names(in: path).compactMap { text in
      guard let name = BackupName(text, series: series) else { return nil }
      let path = "\(path)/\(text)"
      guard let found = try? FileStatus(path: path), found.isRegularFile else { return nil }
      return Entry(
        name: name, path: path, bytes: found.bytes,
        modifiedSecondsSince1970: found.modified.secondsSince1970)
    }.sorted { $0.name.number < $1.name.number }
  }

  /// Where the next one is to be made.
  func nextPath(
    secondsSince1970: Int, isCompressed: Bool, after number: Int = 0
  ) throws(SystemError) -> String {
    let name = BackupName(
      series: series, number: max(number, try entries().last?.name.number ?? 0) + 1,
      secondsSince1970: secondsSince1970, isCompressed: isCompressed)
    return "\(path)/\(name.text)"
  }

  /// Makes the next backup of the series, and deletes the oldest beyond `kept`.
  ///
  /// - Parameter number: its own is greater.
  /// - Throws: what `Backup.make` throws, and `BackupError.isBeingMade` where another program makes
  ///   one of the folder.
  func add(
    _ backup: Backup, secondsSince1970: Int, keeping kept: Int, after number: Int
  ) throws -> Backup.Report {
    precondition(kept >= 1, "no backup would be kept")
    // Another process that makes one waits for its turn, or finds that it is made.
    let lock = try Descriptor(path, .folder)
    guard lock.tryLock() else { throw BackupError.isBeingMade(path: path) }
    return try withExtendedLifetime(lock) {
      try removeStale()
      let next = try nextPath(
        secondsSince1970: secondsSince1970, isCompressed: backup.isCompressed, after: number)
      let report = try backup.make(at: next)
      for entry in try entries().dropLast(kept) { FileSystem.remove(entry.path) }
      return report
    }
  }

  /// What killed programs left of this series.
  private func removeStale() throws(SystemError) {
    for name in try FileSystem.names(in: path) {
      for suffix in PartialFile.suffixes where name.hasSuffix(suffix) {
        guard BackupName(String(name.dropLast(suffix.count)), series: series) != nil else {
          continue
        }
        PartialFile.removeStale("\(path)/\(name)")
      }
    }
  }
}

/// When the next backup of a series is due.
package struct BackupSchedule: Hashable, Sendable {
  /// The time from one backup to the next.
  package var intervalSeconds: Int

  /// Creates a schedule with a backup every `intervalSeconds` seconds.
  package init(intervalSeconds: Int) {
    precondition(intervalSeconds >= 1, "an interval of no time")
    self.intervalSeconds = intervalSeconds
  }

  /// How long to wait, given the age of the newest backup; nil if there is no backup.
  ///
  /// After a clock was set back, the newest one comes from the future: then its age is unknown, and another
  /// is due, which the clock dates as it now is.
  package func secondsUntilDue(newestAgeSeconds age: Int?) -> Int {
    guard let age, age >= 0 else { return 0 }
    return max(0, intervalSeconds - age)
  }

  /// How long to wait after a failure: an hour of a day.
  package var secondsUntilRetry: Int { max(1, intervalSeconds / 24) }
}
