import Catalog
import Feed
import GRDB
import PostJSON

/// What is known of media files.
extension SQLiteStore: MediaStore {
  /// See `MediaStore`.
  ///
  /// - Throws: `StoreError`.
  public func media(at urls: [String]) throws -> [KnownMedia?] {
    try read { table in try urls.map { try table.media(at: $0) } }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `StoreError`.
  public func truth(ofContent sha256: [UInt8]) throws -> MediaTruth? {
    try read { try $0.truth(ofVersion: MediaVersion.content(sha256: sha256).text)?.truth }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `StoreError`.
  public func media(after url: String?, limit: Int) throws -> [KnownMedia] {
    try read { try $0.media(after: url, limit: limit) }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `StoreError`.
  public func namedMedia(after url: String?, limit: Int) throws -> [String] {
    try read { try $0.namedMedia(after: url, limit: limit) }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `MediaStoreError`, `StoreError`.
  public func keep(_ media: [KnownMedia]) throws {
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
  public func forget(_ urls: [String]) throws {
    try write { table in try urls.filter { try table.forget($0) } }
  }

  private func read<Result>(_ body: (MediaTable) throws -> Result) throws -> Result {
    try withStoreErrors(path: path) {
      try readers.read { database, _ in try body(MediaTable(database)) }
    }
  }

  /// - Parameter body: writes, and returns the URLs of which something else is known now.
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

/// The tables of what is known of media files.
struct MediaTable {
  private let database: Database

  init(_ database: Database) { self.database = database }

  static let columns =
    "url, truth, modified_ns, variants FROM media_file JOIN media_truth USING (truth_id)"
  static let mediaAtURL = "SELECT \(columns) WHERE url = ?"
  static let mediaAfterURL = "SELECT \(columns) WHERE url > ? ORDER BY url"
  static let namedAfterURL = """
    SELECT DISTINCT url FROM media WHERE url >= '/' AND url < '0' AND url > ? ORDER BY url LIMIT ?
    """
  static let truthOfVersion = "SELECT truth_id, truth FROM media_truth WHERE version = ?"

  func media(at url: String) throws -> KnownMedia? {
    try Row.fetchOne(database.cachedStatement(sql: Self.mediaAtURL), arguments: [url])
      .flatMap(Self.media)
  }

  func media(after url: String?, limit: Int) throws -> [KnownMedia] {
    let statement = try database.cachedStatement(sql: Self.mediaAfterURL)
    let rows = try Row.fetchCursor(statement, arguments: [url ?? ""])
    var media: [KnownMedia] = []
    while media.count < limit, let row = try rows.next() {
      if let known = Self.media(row) { media.append(known) }
    }
    return media
  }

  func namedMedia(after url: String?, limit: Int) throws -> [String] {
    let statement = try database.cachedStatement(sql: Self.namedAfterURL)
    return try String.fetchAll(statement, arguments: [url ?? "", limit])
  }

  /// The row of a version, and what it says where that can be read.
  func truth(ofVersion version: String) throws -> (id: Int64, truth: MediaTruth?)? {
    let statement = try database.cachedStatement(sql: Self.truthOfVersion)
    return try Row.fetchOne(statement, arguments: [version]).map { row in
      (row[0], Self.truth(row.json(1)))
    }
  }

  private static func media(_ row: Row) -> KnownMedia? {
    truth(row.json(1), variants: row.optionalJSON(3)).map { truth in
      KnownMedia(url: row[0], truth: truth, changedNanoseconds: row[2])
    }
  }

  /// What a row says. Nil where this program would not have written it: that is as if nothing were known, so
  /// that pages go on and the next look at the file mends it; `check` reports it.
  /// Variants that cannot be read are as none.
  static func truth(_ json: [UInt8], variants: [UInt8]? = nil) -> MediaTruth? {
    guard var truth = try? MediaTruth(json: json) else { return nil }
    if let variants { truth.variants = (try? MediaVariant.list(json: variants)) ?? [] }
    return truth
  }

  /// The rows that cannot be read, and why: so many at the most.
  func problems(limit: Int) throws -> [String] {
    var problems: [String] = []
    func look(_ sql: String, _ read: ([UInt8]) throws -> Void) throws {
      let rows = try Row.fetchCursor(database, sql: sql)
      while problems.count < limit, let row = try rows.next() {
        do {
          try read(row.json(1))
        } catch {
          problems.append("\(row[0] as String): \(error)")
        }
      }
    }
    try look("SELECT version, truth FROM media_truth") { _ = try MediaTruth(json: $0) }
    try look("SELECT url, variants FROM media_file WHERE variants IS NOT NULL") {
      _ = try MediaVariant.list(json: $0)
    }
    return problems
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

  /// - Returns: the URLs of which something else is known now.
  func keep(_ media: KnownMedia, _ key: String) throws -> [String] {
    var changed: [String] = []
    let old = try self.media(at: media.url)
    let id: Int64
    let truth = media.truth.alone
    if let known = try self.truth(ofVersion: key) {
      id = known.id
      if known.truth != truth {
        try execute(Self.updateTruth, [String(decoding: truth.json, as: UTF8.self), id])
        changed += try String.fetchAll(
          database.cachedStatement(sql: Self.urlsOfTruth), arguments: [id])
      }
    } else {
      try execute(Self.insertTruth, [key, String(decoding: truth.json, as: UTF8.self)])
      id = database.lastInsertedRowID
    }
    if old?.truth != media.truth { changed.append(media.url) }
    if old != media {
      let variants = media.truth.variants
      let json =
        variants.isEmpty ? nil : String(decoding: MediaVariant.json(variants), as: UTF8.self)
      try execute(Self.putFile, [media.url, id, media.changedNanoseconds, json])
    }
    return changed
  }

  /// - Returns: whether anything was known.
  func forget(_ url: String) throws -> Bool {
    try execute(Self.forgetFile, [url])
    return database.changesCount > 0
  }

  // A list of URLs comes as a JSON array.
  static let tellPosts = """
    INSERT INTO change_log (kind, post_id)
    SELECT 'post', post_id FROM json_each(?) CROSS JOIN media ON url = json_each.value
    """

  /// Tells those who keep pages which posts show these files.
  func tell(_ urls: [String]) throws {
    if !urls.isEmpty { try execute(Self.tellPosts, [JSONText.text(urls)]) }
  }

  private func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }
}

extension Row {
  fileprivate func json(_ column: Int) -> [UInt8] {
    let text: String = self[column]
    return Array(text.utf8)
  }

  fileprivate func optionalJSON(_ column: Int) -> [UInt8]? {
    let text: String? = self[column]
    return text.map { Array($0.utf8) }
  }
}
