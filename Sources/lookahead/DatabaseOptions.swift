import ArgumentParser
import SQLiteStore

/// Where the database is.
struct DatabaseOptions: ParsableArguments {
  @Option(help: "The SQLite file.")
  var database = Environment.text("DATABASE", default: "lookahead.sqlite")

  @Option(help: "How long to wait for another process that writes.")
  var busyTimeoutMilliseconds = Environment.number(
    "BUSY_TIMEOUT_MILLISECONDS", default: DatabaseFile.Options().busyTimeoutMilliseconds)

  /// How the file is opened.
  var file: DatabaseFile.Options {
    DatabaseFile.Options(busyTimeoutMilliseconds: busyTimeoutMilliseconds)
  }

  mutating func validate() throws {
    guard !database.isEmpty else { throw ValidationError("--database: the path is empty") }
    try Environment.validate()
    try requireInRange(list)
  }
}
