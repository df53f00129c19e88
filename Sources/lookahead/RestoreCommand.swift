import ArgumentParser
import Backups
import SQLiteStore
import Service

struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Put a backup in the database's place, after checking it.",
    discussion: """
      The server has to be stopped. A database that is there is replaced only with --overwrite, and \
      then at once: a crash leaves the old one or the new one.
      """)

  @OptionGroup var options: DatabaseOptions

  @Argument(help: "The backup, compressed or not.")
  var backup: String

  @Flag(help: "Replace the database where there is one.")
  var overwrite = false

  mutating func validate() throws { try StoreLocation.requirePath(backup, named: "BACKUP") }

  func run() throws {
    let meter = ProgressMeter()
    let path = try options.path(instead: "pg_restore brings back what pg_dump has copied")
    let report = try Restore(to: path, overwrite: overwrite).run(from: backup)
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
}
