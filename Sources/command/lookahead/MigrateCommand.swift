import ArgumentParser
import Backups
import RowStore
import Service

struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Bring the database to this program's schema.",
    subcommands: [Up.self, Status.self, Verify.self])

  struct Up: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Apply the pending migrations, each in a transaction.")

    @OptionGroup var options: DatabaseOptions

    func run() throws {
      let location = try options.location()
      let applied = try location.schema(options.file).migrate()
      for name in applied { print("applied \(name)") }
      if applied.isEmpty { print("nothing to apply: \(location.name) is up to date") }
    }
  }

  struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the migrations.")

    @OptionGroup var options: DatabaseOptions

    func run() throws {
      let location = try options.location()
      if let path = location.path { try Backup.requireNone(at: path) }
      for migration in try location.schema(options.file).status() {
        print("\(migration.name)  \(migration.appliedAt.map { "applied \($0)" } ?? "pending")")
      }
    }
  }

  struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "See that the applied migrations are this program's, unedited.")

    @OptionGroup var options: DatabaseOptions

    func run() throws {
      let location = try options.location()
      if let path = location.path { try Backup.requireNone(at: path) }
      try location.schema(options.file).verify()
      print("the migrations of \(location.name) are this program's")
    }
  }
}
