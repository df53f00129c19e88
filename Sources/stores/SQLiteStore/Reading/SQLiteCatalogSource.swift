import Catalog
import GRDB

/// The connection through which the catalog follows the file.
struct SQLiteCatalogSource: CatalogSource {
  private let path: String
  private let options: DatabaseFile.Options
  private let watch: FileWatch
  private var connection: ReadConnection?
  private var isClosed = false
  /// The file's data version at the last read.
  private var seenVersion: Int64?

  init(path: String, options: DatabaseFile.Options, watch: FileWatch) {
    self.path = path
    self.options = options
    self.watch = watch
  }

  mutating func read<Result>(_ body: (SQLiteCatalogReader) throws -> Result) throws -> Result {
    try withStoreErrors(path: path) {
      let connection = try open()
      // Taken before the read: any later write changes it.
      let version = try connection.dataVersion()
      let result = try connection.read { database, _ in
        try body(SQLiteCatalogReader(database: database))
      }
      seenVersion = version
      return result
    }
  }

  /// Whether the file was written since the last read. The check costs 4 µs if it was not.
  ///
  /// - Throws: `StoreError`, also if the file is not the one that was opened.
  mutating func mayHaveChanged() throws -> Bool {
    try withStoreErrors(path: path) {
      let connection = try open()
      try connection.look(watch)
      return try connection.dataVersion() != seenVersion
    }
  }

  private mutating func open() throws -> ReadConnection {
    if isClosed { throw StoreError.closed(path: path) }
    let connection = try connection ?? DatabaseFile.openForReading(path: path, options: options)
    self.connection = connection
    return connection
  }

  mutating func close() throws {
    isClosed = true
    try withStoreErrors(path: path) { try connection?.close() }
    connection = nil
  }
}
