import ArgumentParser
import Service
import SQLiteStore

/// How the database is looked after while it is served.
struct CareOptions: ParsableArguments {
  private static let defaults = FeedServiceConfiguration(databasePath: "")
  private static let backups = BackupSettings(folder: "")

  @Option(help: "The folder of scheduled backups; without one there are none.")
  var backupFolder: String?

  @Option(help: "The time from one backup to the next.")
  var backupIntervalSeconds = Environment.number(
    "BACKUP_INTERVAL_SECONDS", default: backups.intervalSeconds)

  @Option(help: "So many backups are kept; the oldest go.")
  var backupsKept = Environment.number("BACKUPS_KEPT", default: backups.kept)

  @Flag(inversion: .prefixedNo, help: "Scheduled backups are made as gzip.")
  var backupCompression = Environment.flag("BACKUP_COMPRESSION", default: backups.isCompressed)

  @Option(help: "A larger write-ahead log is brought into the database and cut.")
  var walLimitBytes = Environment.number(
    "WAL_LIMIT_BYTES", default: DatabaseFile.Options.defaultLogLimitBytes)

  @Option(help: "How often the write-ahead log is looked at.")
  var checkpointIntervalSeconds = Environment.number(
    "CHECKPOINT_INTERVAL_SECONDS", default: defaults.checkpointIntervalSeconds)

  mutating func validate() throws {
    backupFolder = backupFolder ?? Environment.text("BACKUP_FOLDER")
    try Environment.validate()
  }

  func apply(to configuration: inout FeedServiceConfiguration) {
    configuration.backups = backupFolder.map { folder in
      var settings = BackupSettings(folder: folder)
      settings.intervalSeconds = backupIntervalSeconds
      settings.kept = backupsKept
      settings.isCompressed = backupCompression
      return settings
    }
    configuration.store.file.logLimitBytes = walLimitBytes
    configuration.checkpointIntervalSeconds = checkpointIntervalSeconds
  }
}
