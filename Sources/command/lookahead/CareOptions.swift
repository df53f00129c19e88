import ArgumentParser
import Service

/// The care of the database while it is served.
struct CareOptions: ParsableArguments {
  @Option(
    help: "Folder for scheduled backups, or s3://bucket/prefix; without it, none are made.")
  var backupFolder: String?

  @Option("backup-interval-seconds") var backupIntervalSeconds: Int
  @Option("backups-kept") var backupsKept: Int

  @Option(
    help:
      "Program to run after each scheduled backup, with the path of the backup as argument."
  )
  var backupCommand: String?

  @Option("backup-command-seconds") var backupCommandSeconds: Int

  @Flag("backup-compression", default: true, "Compress scheduled backups with gzip.")
  var backupCompression: Bool

  mutating func validate() throws {
    backupFolder = backupFolder ?? Environment.text("backup-folder")
    backupCommand = backupCommand ?? Environment.text("backup-command")
    guard let backupCommand else { return }
    guard backupCommand.hasPrefix("/") else {
      throw ValidationError(
        "--backup-command: \(backupCommand) is not the absolute path of a program")
    }
    guard backupFolder != nil else {
      throw ValidationError("--backup-command needs --backup-folder")
    }
  }

  /// The settings of backups; `nil` for none.
  var backups: BackupSettings? {
    backupFolder.map { folder in
      var settings = BackupSettings(folder: folder)
      settings.intervalSeconds = backupIntervalSeconds
      settings.kept = backupsKept
      settings.isCompressed = backupCompression
      settings.command = backupCommand
      settings.commandSeconds = backupCommandSeconds
      return settings
    }
  }
}
