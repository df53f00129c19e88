import ArgumentParser
import Backups
import SQLiteStore
import Service

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy the database while it is used, and check the copy.",
    discussion: """
      Every write that was answered before is in it. FILE is there whole, checked and on the disk, or \
      not at all.
      """)

  @OptionGroup var options: DatabaseOptions

  @Argument(help: "The backup to be made.")
  var file: String

  @Flag("compress", "As gzip; the name then ends in .gz.") var compress: Bool

  @Flag(help: "Replace the file where there is one.")
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
