import GRDB

/// The connection by which the catalog follows the file.
struct CatalogSource {
  private let path: String
  private let options: DatabaseFile.Options
  private let watch: FileWatch
  private var connection: ReadConnection?
  private var isClosed = false
  /// The file's data version when the catalog was read last.
  private var seenVersion: Int64?

  init(path: String, options: DatabaseFile.Options, watch: FileWatch) {
    self.path = path
    self.options = options
    self.watch = watch
  }

  /// Reads within one snapshot of the file, whether or not anything was written.
  mutating func read<Result>(_ body: (CatalogReader) throws -> Result) throws -> Result {
    let connection = try open()
    // Before reading: what is written from here on makes another one.
    let version = try connection.dataVersion()
    let result = try connection.read { database, _ in try body(CatalogReader(database: database)) }
    seenVersion = version
    return result
  }

  /// Reads what is the same as the last time, only more of it, where nothing was written since.
  mutating func readMore<Result>(_ body: (CatalogReader) throws -> Result) throws -> (
    Result, isUnchanged: Bool
  ) {
    let last = seenVersion
    let result = try read(body)
    guard let last, last == seenVersion else { return (result, false) }
    return (result, try open().dataVersion() == last)
  }

  /// Reads if anything was written since the last time: a look costs 4 µs where nothing was.
  ///
  /// - Throws: `StoreError.gone`, `StoreError.replaced`, `DatabaseError`.
  mutating func readIfChanged<Result>(
    _ body: (CatalogReader) throws -> Result?
  ) throws -> Result? {
    let connection = try open()
    try connection.look(watch)
    guard try connection.dataVersion() != seenVersion else { return nil }
    return try read(body)
  }

  private mutating func open() throws -> ReadConnection {
    if isClosed { throw StoreError.closed(path: path) }
    let connection = try connection ?? DatabaseFile.openForReading(path: path, options: options)
    self.connection = connection
    return connection
  }

  mutating func close() throws {
    isClosed = true
    try connection?.close()
    connection = nil
  }
}
