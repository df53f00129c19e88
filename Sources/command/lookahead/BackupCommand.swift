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
    abstract: "Copy the database while it is used, and check the copy.",
    discussion: """
      Every write that was answered before is in it. FILE is there whole, checked and on the disk, or \
      not at all.
      """)

  @OptionGroup var options: DatabaseOptions

  @Argument(help: "Backup to write.")
  var file: String

  @Flag("compress", "As gzip; the name then ends in .gz.") var compress: Bool

  @Flag(help: "Replace an existing file.")
  var overwrite = false

  mutating func validate() throws {
    guard !file.isEmpty else { throw ValidationError("FILE: the path is empty") }
    try StoreLocation.requirePath(file, named: "FILE")
    if file.hasSuffix(Backup.compressedSuffix), !compress {
      throw ValidationError("\(file) ends in .gz: give --compress, or another name")
    }
  }

  func run() throws {
    let meter = ProgressMeter()
    let backup = Backup(
      of: try options.path(
        instead: "pg_dump copies a PostgreSQL database, pg_basebackup a whole server"),
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
    abstract: "Put a backup in the database's place, after checking it.",
    discussion: """
      The server has to be stopped. A database that is there is replaced only with --overwrite, and \
      then at once: a crash leaves the old one or the new one.
      """)

  @OptionGroup var options: DatabaseOptions

  @Argument(
    help:
      "The backup, compressed or not: a file, s3://bucket/key, or s3://bucket/prefix/ for the newest there."
  )
  var backup: String

  @Flag(help: "Replace an existing database.")
  var overwrite = false

  mutating func validate() throws {
    if !ObjectAddress.isOne(backup) { try StoreLocation.requirePath(backup, named: "BACKUP") }
  }

  /// What is put behind the database's name for what is fetched.
  private static let fetchedSuffix = ".fetched"

  func run() throws {
    let meter = ProgressMeter()
    let path = try options.path(instead: "pg_restore brings back what pg_dump has copied")
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
        "its schema is older: `serve` or `migrate up` applies "
          + report.pendingMigrations.joined(separator: ", "))
    }
  }

  /// Takes the backup out of its bucket.
  private func fetch(to path: String, ofDatabase database: String) throws {
    let isNewest = backup.hasSuffix("/") || !backup.contains(".sqlite")
    let last = backup.lastIndex(of: "/") ?? backup.endIndex
    let address = try ObjectAddress(isNewest ? backup : String(backup[...last]))
    let store = ObjectStore(
      address, try .init(environment: ProcessInfo.processInfo.environment))
    // What a killed run left.
    FileSystem.remove(path)
    let key = isNewest ? nil : address.prefix + backup[backup.index(after: last)...]
    try BackupBucket.fetch(key, from: store, ofDatabase: database, to: path)
  }
}
