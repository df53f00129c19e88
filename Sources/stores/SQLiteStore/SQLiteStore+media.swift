import Catalog
import Feed
import Foundation
import GRDB
import RowStore

/// The facts about media files.
extension SQLiteStore: MediaStore {
  /// See `MediaStore`.
  ///
  /// - Throws: `StoreError`.
  package func media(at urls: [String]) throws -> [KnownMedia?] {
    try read { table in try urls.map { try table.media(at: $0) } }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `StoreError`.
  package func truth(ofContent sha256: [UInt8]) throws -> MediaTruth? {
    try read { try $0.truth(ofVersion: MediaVersion.content(sha256: sha256).text)?.truth }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `StoreError`.
  package func media(after url: String?, limit: Int) throws -> [KnownMedia] {
    try read { try $0.media(after: url, limit: limit) }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `StoreError`.
  package func namedMedia(after url: String?, limit: Int) throws -> [String] {
    try read { try $0.namedMedia(after: url, limit: limit) }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `StoreError`.
  package func posts(naming urls: [String], limit: Int) throws -> [String] {
    try read { try $0.posts(naming: urls, limit: limit) }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `MediaStoreError`, `StoreError`.
  package func keep(_ media: [KnownMedia]) throws {
    guard !media.isEmpty else { return }
    let keyed = try media.map { (key: try $0.versionKey(), media: $0) }
    try write { table in
      var changed: [String] = []
      for (key, media) in keyed { changed += try table.keep(media, key) }
      return changed
    }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `StoreError`.
  package func forget(_ urls: [String]) throws {
    try write { table in try urls.filter { try table.forget($0) } }
  }

  private func read<Result>(_ body: (MediaTable) throws -> Result) throws -> Result {
    try withStoreErrors(path: path) {
      try readers.read { database, _ in try body(MediaTable(database)) }
    }
  }

  /// - Parameter body: writes, and returns the URLs whose facts have changed.
  private func write(_ body: (MediaTable) throws -> [String]) throws {
    try withStoreErrors(path: path) {
      try pool.write { database in
        let table = MediaTable(database)
        try table.tell(try body(table))
        try ChangeLog(database: database).trim()
      }
    }
    followOwnWrite()
  }
}

/// The tables of the facts about media files.
struct MediaTable: KnownMediaRows {
  private let database: Database

  init(_ database: Database) { self.database = database }

  static let columns =
    "url, truth, modified_ns, variants FROM media_file JOIN media_truth USING (truth_id)"
  static let mediaAtURL = "SELECT \(columns) WHERE url = ?"
  static let mediaAfterURL = "SELECT \(columns) WHERE url > ? ORDER BY url"
  static let namedAfterURL = """
    SELECT DISTINCT url FROM media WHERE url >= '/' AND url < '0' AND url > ? ORDER BY url LIMIT ?
    """
  // The list of URLs is a JSON array.
  static let postsNaming = """
    SELECT DISTINCT post.id FROM json_each(?) CROSS JOIN media ON media.url = json_each.value
    CROSS JOIN post USING (post_id) ORDER BY post.id LIMIT ?
    """
  static let truthOfVersion = "SELECT truth_id, truth FROM media_truth WHERE version = ?"

  func media(at url: String) throws -> KnownMedia? {
    let rows = RowReader(try database.cachedStatement(sql: Self.mediaAtURL))
    defer { rows.reset() }
    try rows.bind(url, at: 1)
    return try rows.next() ? Self.media(rows) : nil
  }

  func media(after url: String?, limit: Int) throws -> [KnownMedia] {
    let rows = RowReader(try database.cachedStatement(sql: Self.mediaAfterURL))
    defer { rows.reset() }
    try rows.bind(url ?? "", at: 1)
    var media: [KnownMedia] = []
    while media.count < limit, try rows.next() {
      if let known = Self.media(rows) { media.append(known) }
    }
    return media
  }

  func namedMedia(after url: String?, limit: Int) throws -> [String] {
    let statement = try database.cachedStatement(sql: Self.namedAfterURL)
    return try String.fetchAll(statement, arguments: [url ?? "", limit])
  }

  func posts(naming urls: [String], limit: Int) throws -> [String] {
    let statement = try database.cachedStatement(sql: Self.postsNaming)
    return try String.fetchAll(statement, arguments: [JSONText.text(urls), limit])
  }

  /// Returns the row of a version, and its facts if they can be read.
  func truth(ofVersion version: String) throws -> (id: Int64, truth: MediaTruth?)? {
    let rows = RowReader(try database.cachedStatement(sql: Self.truthOfVersion))
    defer { rows.reset() }
    try rows.bind(version, at: 1)
    guard try rows.next() else { return nil }
    return (rows.integer(0), Self.truth(rows, at: 1))
  }

  private static func media(_ row: RowReader) -> KnownMedia? {
    truth(row, at: 1, variantsAt: 3).map { truth in
      KnownMedia(url: row.string(0), truth: truth, changedNanoseconds: row.optionalInteger(2))
    }
  }

  /// Returns the facts in these columns of a row. Nil if this program would not have written the row: it is
  /// treated as unknown, so that pages still work and the next look at the file repairs it; `check` reports
  /// it. Unreadable variants are treated as absent.
  static func truth(
    _ row: RowReader, at column: Int32, variantsAt variantsColumn: Int32? = nil
  ) -> MediaTruth? {
    guard let packed = row.bytes(column) else { return nil }
    let variants = variantsColumn.flatMap(row.bytes).flatMap { try? PackedTruth.variants(in: $0) }
    return try? PackedTruth.truth(in: packed, variants: variants ?? [])
  }
}

// MARK: Writing

extension MediaTable {
  static let insertTruth = "INSERT INTO media_truth (version, truth) VALUES (?, ?)"
  static let updateTruth = "UPDATE media_truth SET truth = ? WHERE truth_id = ?"
  static let putFile = """
    INSERT INTO media_file (url, truth_id, modified_ns, variants) VALUES (?, ?, ?, ?)
    ON CONFLICT (url) DO UPDATE SET truth_id = excluded.truth_id,
      modified_ns = excluded.modified_ns, variants = excluded.variants
    """
  static let forgetFile = "DELETE FROM media_file WHERE url = ?"
  static let urlsOfTruth = "SELECT url FROM media_file WHERE truth_id = ?"

  func insertTruth(_ packed: [UInt8], version: String) throws -> Int64 {
    try execute(Self.insertTruth, [version, Data(packed)])
    return database.lastInsertedRowID
  }

  func updateTruth(_ id: Int64, to packed: [UInt8]) throws {
    try execute(Self.updateTruth, [Data(packed), id])
  }

  func urls(ofTruth id: Int64) throws -> [String] {
    try String.fetchAll(database.cachedStatement(sql: Self.urlsOfTruth), arguments: [id])
  }

  func put(_ media: KnownMedia, truth: Int64, variants: [UInt8]?) throws {
    try execute(
      Self.putFile, [media.url, truth, media.changedNanoseconds, variants.map { Data($0) }])
  }

  /// - Returns: whether anything was known.
  func forget(_ url: String) throws -> Bool {
    try execute(Self.forgetFile, [url])
    return database.changesCount > 0
  }

  // The list of URLs is a JSON array.
  static let tellPosts = """
    INSERT INTO change_log (kind, post_id)
    SELECT 'post', post_id FROM json_each(?) CROSS JOIN media ON url = json_each.value
    """

  /// Logs the posts that show these files as changed, for callers that cache pages.
  func tell(_ urls: [String]) throws {
    guard !urls.isEmpty else { return }
    // Without the index, each call would read all files with the write lock held, for longer than a load
    // waits.
    try LateIndexes.make(database)
    try execute(Self.tellPosts, [JSONText.text(urls)])
  }

  private func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
