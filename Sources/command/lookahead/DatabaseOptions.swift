import ArgumentParser
import Postgres
import RowStore
import SQLiteStore
import Service

/// The location of the database.
struct DatabaseOptions: ParsableArguments {
  @Option(
    "database", default: "lookahead.sqlite",
    "SQLite file, or PostgreSQL database as a libpq connection string: postgres://…, service=…."
  )
  var database: String
  @Option("busy-timeout-milliseconds") var busyTimeoutMilliseconds: Int

  /// The location of the database.
  ///
  /// - Throws: `ValidationError`, which does not repeat text that may contain a password.
  func location() throws -> StoreLocation { try StoreLocation(option: database) }

  /// The path of the file.
  ///
  /// - Parameter instead: what to do for PostgreSQL in place of the command.
  /// - Throws: `ValidationError` if the database is not a file.
  func path(instead: String) throws -> String {
    let location = try location()
    guard let path = location.path else {
      throw ValidationError("\(location.name) is not a SQLite file: \(instead)")
    }
    return path
  }

  /// The options for opening the file.
  var file: DatabaseFile.Options {
    DatabaseFile.Options(busyTimeoutMilliseconds: busyTimeoutMilliseconds)
  }

  /// Opens the store, which must exist and be up to date.
  ///
  /// - Parameter changesMuch: whether the command writes much data.
  func openExisting(changesMuch: Bool = false) throws -> any DatabaseStore {
    var opening = StoreOpening()
    opening.file = changesMuch ? file.forMuch : file
    return try opening.open(existing: location()).store
  }

  mutating func validate() throws {
    guard !database.isEmpty else { throw ValidationError("--database: the path is empty") }
    _ = try location()
    try Setting.validate(self)
  }
}

/// The standby that a server reads.
struct StandbyOptions: ParsableArguments {
  @Option(
    "standby-database", default: "",
    "Address of a standby of the PostgreSQL database, or of several, to read before the primary."
  )
  var standbyDatabase: String

  /// The address of the standby; `nil` for none.
  ///
  /// - Throws: `ValidationError`, which does not repeat text that may contain a password.
  func address() throws -> DatabaseAddress? {
    guard !standbyDatabase.isEmpty else { return nil }
    guard
      case .postgres(let address) = try StoreLocation(
        option: standbyDatabase, named: "standby-database")
    else {
      throw ValidationError(
        "--standby-database: a standby must be a PostgreSQL server, postgres://… or service=…")
    }
    return address
  }

  mutating func validate() throws { _ = try address() }
}

extension StoreLocation {
  /// Refuses the address of a database, which may contain a password, as an argument for a file.
  ///
  /// - Throws: `ValidationError`.
  static func requirePath(_ text: String, named name: String) throws {
    guard case .sqlite? = try? StoreLocation(text) else {
      throw ValidationError(
        "\(name): this is the address of a database, not a file; write ./NAME for a file of "
          + "that name"
      )
    }
  }

  /// Parses the value of an option.
  ///
  /// - Throws: `ValidationError`.
  init(option text: String, named name: String = "database") throws {
    do throws(PostgresError) {
      try self.init(text)
    } catch {
      throw ValidationError("--\(name): \(error)")
    }
  }
}
