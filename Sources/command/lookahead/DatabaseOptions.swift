import ArgumentParser
import Postgres
import RowStore
import SQLiteStore
import Service

/// Where the database is.
struct DatabaseOptions: ParsableArguments {
  @Option(
    "database", default: "lookahead.sqlite",
    "SQLite file, or PostgreSQL database as a libpq connection string: postgres://…, service=…."
  )
  var database: String
  @Option("busy-timeout-milliseconds") var busyTimeoutMilliseconds: Int

  /// Which database it is.
  ///
  /// - Throws: `ValidationError`, which does not repeat what may hold a password.
  func location() throws -> StoreLocation { try StoreLocation(option: database) }

  /// Returns the file.
  ///
  /// - Parameter instead: what does for PostgreSQL what the command does for a file.
  /// - Throws: `ValidationError` if the database is not a file.
  func path(instead: String) throws -> String {
    let location = try location()
    guard let path = location.path else {
      throw ValidationError("\(location.name) is not a SQLite file: \(instead)")
    }
    return path
  }

  /// How the file is opened.
  var file: DatabaseFile.Options {
    DatabaseFile.Options(busyTimeoutMilliseconds: busyTimeoutMilliseconds)
  }

  /// Opens the store, which must exist and be up to date.
  ///
  /// - Parameter changesMuch: the command writes a great deal.
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

/// Which standby a server reads.
struct StandbyOptions: ParsableArguments {
  @Option(
    "standby-database", default: "",
    "Address of a standby of the PostgreSQL database, or of several, to read before the primary."
  )
  var standbyDatabase: String

  /// The standby; `nil` where none is named.
  ///
  /// - Throws: `ValidationError`, which does not repeat what may hold a password.
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
  /// Throws where an argument for a file is the address of a database, which may hold a password.
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

  /// What an option names.
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
