import Glibc
import SQLiteStore
import System

/// A folder that holds a series of backups of one database: numbered, the newest kept.
package struct BackupFolder: Sendable {
  /// A backup of the series.
  package struct Entry: Sendable {
    /// The backup's name.
    package let name: BackupName
    /// The backup's path.
    package let path: String
    /// The backup's size.
    package let bytes: Int
    /// The time at which the backup was finished, by the system's clock.
    package let modifiedSecondsSince1970: Int
  }

  /// The folder's path.
  package let path: String
  private let series: String

  /// Creates the folder of the backups of a database.
  package init(path: String, database: String) {
    self.path = path
    series = BackupName.series(ofDatabase: database)
  }

  /// Checks that backups can be written there.
  ///
  /// - Throws: `SystemError`.
  package func requireUsable() throws(SystemError) {
    guard try FileStatus(path: path).isFolder else {
      throw SystemError(call: "stat", purpose: "use the backup folder \(path)", code: ENOTDIR)
    }
    try FileSystem.require([.writing, .entering], path)
  }

  /// Returns the backups of the series, the oldest first.
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

  /// Returns the path of the next backup.
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
  /// - Parameter number: the number that the backup's own number exceeds.
  /// - Throws: the errors of `Backup.make`, and `BackupError.isBeingMade` if another program makes a backup
  ///   in the folder.
  func add(
    _ backup: Backup, secondsSince1970: Int, keeping kept: Int, after number: Int
  ) throws -> Backup.Report {
    precondition(kept >= 1, "no backup would be kept")
    // Only one process makes a backup in the folder at a time.
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

  /// Removes what killed programs left of this series.
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

/// The schedule of a series of backups.
package struct BackupSchedule: Hashable, Sendable {
  /// The time from one backup to the next.
  package var intervalSeconds: Int

  /// Creates a schedule with a backup every `intervalSeconds` seconds.
  package init(intervalSeconds: Int) {
    precondition(intervalSeconds >= 1, "an interval of no time")
    self.intervalSeconds = intervalSeconds
  }

  /// Returns the time to wait, given the age of the newest backup, which is nil if there is no backup.
  ///
  /// After a clock was set back, the newest backup is from the future: its age is unknown, and another
  /// backup is due, with the current time of the clock.
  package func secondsUntilDue(newestAgeSeconds age: Int?) -> Int {
    guard let age, age >= 0 else { return 0 }
    return max(0, intervalSeconds - age)
  }

  /// The time to wait after a failure: an hour if the interval is a day.
  package var secondsUntilRetry: Int { max(1, intervalSeconds / 24) }
}
