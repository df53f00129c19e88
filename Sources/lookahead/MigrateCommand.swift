import ArgumentParser
import Backups
import SQLiteStore

struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Bring the database to this program's schema.",
    subcommands: [Up.self, Status.self, Verify.self])

  struct Up: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Apply the pending migrations, each in a transaction.")

    @OptionGroup var options: DatabaseOptions

    func run() throws {
      let applied = try Schema.migrate(path: options.database, options: options.file)
      for name in applied { print("applied \(name)") }
      if applied.isEmpty { print("nothing to apply: \(options.database) is up to date") }
    }
  }

  struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the migrations.")

    @OptionGroup var options: DatabaseOptions

    func run() throws {
      try Backup.requireNone(at: options.database)
      for migration in try Schema.status(path: options.database, options: options.file) {
        print("\(migration.name)  \(migration.appliedAt.map { "applied \($0)" } ?? "pending")")
      }
    }
  }

  struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "See that the applied migrations are this program's, unedited.")

    @OptionGroup var options: DatabaseOptions

    func run() throws {
      try Backup.requireNone(at: options.database)
      try Schema.verify(path: options.database, options: options.file)
      print("the migrations of \(options.database) are this program's")
    }
  }
}
