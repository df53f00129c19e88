import ArgumentParser
import Service

/// How the database is looked after while it is served.
struct CareOptions: ParsableArguments {
  @Option(help: "Folder of scheduled backups; without it, none are made.")
  var backupFolder: String?

  @Option("backup-interval-seconds") var backupIntervalSeconds: Int
  @Option("backups-kept") var backupsKept: Int

  @Flag("backup-compression", default: true, "Scheduled backups are made as gzip.")
  var backupCompression: Bool

  @Option("wal-limit-bytes") var walLimitBytes: Int
  @Option("checkpoint-interval-seconds") var checkpointIntervalSeconds: Int

  mutating func validate() throws {
    backupFolder = backupFolder ?? Environment.text("backup-folder")
  }

  /// Nil where no backups are made.
  var backups: BackupSettings? {
    backupFolder.map { folder in
      var settings = BackupSettings(folder: folder)
      settings.intervalSeconds = backupIntervalSeconds
      settings.kept = backupsKept
      settings.isCompressed = backupCompression
      return settings
    }
  }
}
