import ArgumentParser
import Backups
import RowStore
import Service

struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Migrate the database to this program's schema.",
    subcommands: [Up.self, Status.self, Verify.self])

  struct Up: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Apply the pending migrations, each in a transaction.",
      discussion: """
        Also indexes the texts of posts in a database from before version 0.2. A server does that \
        as well, while it runs.
        """)

    @OptionGroup var options: DatabaseOptions

    func run() throws {
      let location = try options.location()
      let applied = try location.schema(options.file).migrate()
      for name in applied { print("applied \(name)") }
      if applied.isEmpty { print("nothing to apply: \(location.name) is up to date") }
      try indexTexts(location)
    }

    /// Indexes texts, so that a server started afterwards finds them at once.
    private func indexTexts(_ location: StoreLocation) throws {
      var opening = StoreOpening()
      opening.file = options.file
      let store = try opening.open(existing: location).store
      let indexing = Result { try store.indexAllTexts(ProgressMeter()) }
      let closing = Result { try store.close() }
      try indexing.get()
      try closing.get()
    }
  }

  struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the migrations.",
      discussion: """
        If the database has other migrations than this program, the command prints the difference, \
        and the exit status is 1.
        """)

    @OptionGroup var options: DatabaseOptions

    func run() throws {
      let location = try options.location()
      if let path = location.path { try Backup.requireNone(at: path) }
      let schema = location.schema(options.file)
      for migration in try schema.status() {
        print("\(migration.name)  \(migration.appliedAt.map { "applied \($0)" } ?? "pending")")
      }
      try schema.verify()
    }
  }

  struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Verify that the applied migrations are this program's, unedited.")

    @OptionGroup var options: DatabaseOptions

    func run() throws {
      let location = try options.location()
      if let path = location.path { try Backup.requireNone(at: path) }
      try location.schema(options.file).verify()
      print("the migrations of \(location.name) are this program's")
    }
  }
}
