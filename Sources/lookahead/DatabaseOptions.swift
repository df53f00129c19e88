import ArgumentParser
import SQLiteStore

/// Where the database is.
struct DatabaseOptions: ParsableArguments {
  @Option(help: "The SQLite file.")
  var database = Environment.text("DATABASE", default: "lookahead.sqlite")

  mutating func validate() throws {
    guard !database.isEmpty else { throw ValidationError("--database: the path is empty") }
    try Environment.validate()
  }
}
