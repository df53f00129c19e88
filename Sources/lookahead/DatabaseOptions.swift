import ArgumentParser
import SQLiteStore

/// Where the database is.
struct DatabaseOptions: ParsableArguments {
  @Option("database", default: "lookahead.sqlite", "The SQLite file.") var database: String
  @Option("busy-timeout-milliseconds") var busyTimeoutMilliseconds: Int

  /// How the file is opened.
  var file: DatabaseFile.Options {
    DatabaseFile.Options(busyTimeoutMilliseconds: busyTimeoutMilliseconds)
  }

  mutating func validate() throws {
    guard !database.isEmpty else { throw ValidationError("--database: the path is empty") }
    try Setting.validate(self)
  }
}
