import ArgumentParser
import Backups
import Foundation
import ObjectStorage
import SQLiteStore
import Service
import System

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Back up the database while it is in use, and verify the backup.",
    discussion: """
      The backup contains every write that was answered before it started. FILE appears complete, \
      verified and synced to disk, or not at all.
      """)

  @OptionGroup var options: DatabaseOptions

  @Argument(help: "Backup to write.")
  var file: String

  @Flag("compress", "Compress with gzip, and append .gz to the name.") var compress: Bool

  @Flag(help: "Replace an existing file.")
  var overwrite = false

  mutating func validate() throws {
    guard !file.isEmpty else { throw ValidationError("FILE: the path is empty") }
    try StoreLocation.requirePath(file, named: "FILE")
    if file.hasSuffix(Backup.compressedSuffix), !compress {
      throw ValidationError("FILE: \(file) ends in .gz; use --compress or another name")
    }
  }

  func run() throws {
    let meter = ProgressMeter()
    let backup = Backup(
      of: try options.path(
        instead: "use pg_dump for a PostgreSQL database, or pg_basebackup for a whole server"),
      options: options.file, compress: compress, overwrite: overwrite)
    let report = try backup.make(at: file)
    for note in report.notes { print("note: \(note)") }
    let size =
      report.bytes == report.databaseBytes
      ? ByteCount.text(report.bytes)
      : "\(ByteCount.text(report.bytes)) of \(ByteCount.text(report.databaseBytes))"
    print(
      "\(report.path): \(report.posts) posts, \(size), checked, in \(meter.secondsText) s")
  }
}

struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Verify a backup, and replace the database with it.",
    discussion: """
      Stop the server first. An existing database is replaced only with --overwrite, and \
      atomically: after a crash, either the old or the new database is in place.
      """)

  @OptionGroup var options: DatabaseOptions

  @Argument(
    help:
      "Backup, compressed or not: a file, s3://bucket/key, or s3://bucket/prefix/ (the newest)."
  )
  var backup: String

  @Flag(help: "Replace an existing database.")
  var overwrite = false

  mutating func validate() throws {
    if !ObjectAddress.isOne(backup) { try StoreLocation.requirePath(backup, named: "BACKUP") }
  }

  /// The suffix of the database's name for a fetched backup.
  private static let fetchedSuffix = ".fetched"

  func run() throws {
    let meter = ProgressMeter()
    let path = try options.path(instead: "use pg_restore with a copy made by pg_dump")
    let fetched = ObjectAddress.isOne(backup) ? path + Self.fetchedSuffix : nil
    if let fetched { try fetch(to: fetched, ofDatabase: path) }
    defer { if let fetched { FileSystem.remove(fetched) } }
    let report = try Restore(to: path, overwrite: overwrite).run(from: fetched ?? backup)
    for note in report.notes { print("note: \(note)") }
    print(
      "\(path): \(report.posts) posts, \(ByteCount.text(report.bytes)), checked, "
        + "in \(meter.secondsText) s")
    if !report.pendingMigrations.isEmpty {
      print(
        "the backup's schema is older: `serve` or `migrate up` applies "
          + report.pendingMigrations.joined(separator: ", "))
    }
  }

  /// Fetches the backup from its bucket.
  private func fetch(to path: String, ofDatabase database: String) throws {
    let isNewest = backup.hasSuffix("/") || !backup.contains(".sqlite")
    let last = backup.lastIndex(of: "/") ?? backup.endIndex
    let address = try ObjectAddress(isNewest ? backup : String(backup[...last]))
    let store = ObjectStore(
      address, try .init(environment: ProcessInfo.processInfo.environment))
    // Removes the file of a killed run.
    FileSystem.remove(path)
    let key = isNewest ? nil : address.prefix + backup[backup.index(after: last)...]
    try BackupBucket.fetch(key, from: store, ofDatabase: database, to: path)
  }
}
