import Catalog
import Feed
import Postgres
import RowStore

/// The tables of the facts about media files.
struct MediaRows: KnownMediaRows {
  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  private static let columns =
    "url, truth, modified_ns, variants FROM media_file JOIN media_truth USING (truth_id)"
  // A hash index finds one value at a time, not those of a list.
  static let atURLs = """
    SELECT url, truth, modified_ns, variants
    FROM unnest($1::text[]) AS asked (at) JOIN media_file ON url = asked.at
    JOIN media_truth USING (truth_id)
    """
  // Uses an index of the beginnings of URLs: whole URLs may be longer than an index page allows.
  static let afterURL = """
    SELECT \(columns) WHERE left(url, 500) >= left($1::text, 500) AND url > $1::text
    ORDER BY left(url, 500), url LIMIT $2::int8
    """
  static let namedAfterURL = """
    SELECT url FROM media WHERE url >= '/' AND url < '0' AND left(url, 500) >= left($1::text, 500)
      AND url > $1::text
    GROUP BY left(url, 500), url ORDER BY left(url, 500), url LIMIT $2::int8
    """
  static let postsNaming = """
    SELECT (SELECT id FROM post WHERE post.post_id = found.post_id) AS id
    FROM (
      SELECT DISTINCT post_id FROM unnest($1::text[]) AS asked (at) JOIN media ON media.url = asked.at
    ) AS found ORDER BY 1 LIMIT $2::int8
    """
  static let truthOfVersion = "SELECT truth_id, truth FROM media_truth WHERE version = $1::text"

  /// Returns what is known at these URLs, in their order.
  func media(at urls: [String]) throws -> [KnownMedia?] {
    guard !urls.isEmpty else { return [] }
    let rows = try connection.run(Self.atURLs, [.texts(urls.map { $0 })])
    var known: [ByteText: KnownMedia] = [:]
    for media in try media(rows) { known[ByteText(media.url)] = media }
    return urls.map { known[ByteText($0)] }
  }

  /// Returns files after a URL.
  func media(after url: String?, limit: Int) throws -> [KnownMedia] {
    try media(connection.run(Self.afterURL, [.text(url ?? ""), .integer(Int64(limit))]))
  }

  /// Returns URLs of this server's own files after a URL.
  func namedMedia(after url: String?, limit: Int) throws -> [String] {
    let rows = try connection.run(Self.namedAfterURL, [.text(url ?? ""), .integer(Int64(limit))])
    return try (0..<rows.count).map { try RowValues(rows: rows, row: $0).name(0) }
  }

  /// Returns posts that have a file at one of these URLs.
  func posts(naming urls: [String], limit: Int) throws -> [String] {
    let rows = try connection.run(
      Self.postsNaming, [.texts(urls.map { $0 }), .integer(Int64(limit))])
    return try (0..<rows.count).map { try RowValues(rows: rows, row: $0).name(0) }
  }

  /// Returns the row of a version, and its facts if they can be read.
  func truth(ofVersion version: String) throws -> (id: Int64, truth: MediaTruth?)? {
    let rows = try connection.run(Self.truthOfVersion, [.text(version)])
    guard rows.count > 0 else { return nil }
    let row = RowValues(rows: rows, row: 0)
    return (try row.integer(0), Self.truth(row, at: 1))
  }

  private func media(_ rows: Rows) throws -> [KnownMedia] {
    try (0..<rows.count).compactMap { index in
      let row = RowValues(rows: rows, row: index)
      guard let truth = Self.truth(row, at: 1, variantsAt: 3) else { return nil }
      return KnownMedia(
        url: try row.name(0), truth: truth, changedNanoseconds: row.optional(2))
    }
  }

  /// Returns the facts in these columns of a row. Nil if this program would not have written the row: it is
  /// treated as unknown; `check` reports it. Unreadable variants are treated as absent.
  static func truth(
    _ row: RowValues, at column: Int, variantsAt variants: Int? = nil
  ) -> MediaTruth? {
    guard let packed = row.text(column), var truth = try? PackedTruth.truth(in: packed) else {
      return nil
    }
    truth.variants =
      variants.flatMap(row.text).flatMap { try? PackedTruth.variants(in: $0) } ?? []
    return truth
  }
}

// MARK: Writing

extension MediaRows {
  static let urlsOfTruth = "SELECT url FROM media_file WHERE truth_id = $1::int8"
  static let tellPosts = """
    INSERT INTO change_log (kind, post_id)
    SELECT 'post', post_id FROM unnest($1::text[]) AS told (url) JOIN media ON media.url = told.url
    """

  func media(at url: String) throws -> KnownMedia? { try media(at: [url])[0] }

  func insertTruth(_ packed: [UInt8], version: String) throws -> Int64 {
    let rows = try connection.run(
      "INSERT INTO media_truth (version, truth) VALUES ($1::text, $2::bytea) RETURNING truth_id",
      [.text(version), .bytes(packed)])
    return try RowValues(rows: rows, row: 0).integer(0)
  }

  func updateTruth(_ id: Int64, to packed: [UInt8]) throws {
    try connection.run(
      "UPDATE media_truth SET truth = $1::bytea WHERE truth_id = $2::int8",
      [.bytes(packed), .integer(id)])
  }

  func urls(ofTruth id: Int64) throws -> [String] {
    let rows = try connection.run(Self.urlsOfTruth, [.integer(id)])
    return try (0..<rows.count).map { try RowValues(rows: rows, row: $0).name(0) }
  }

  func put(_ media: KnownMedia, truth: Int64, variants: [UInt8]?) throws {
    let parameters: [Parameter] = [
      .text(media.url), .integer(truth), .integer(media.changedNanoseconds),
      variants.map { .bytes($0) } ?? .null,
    ]
    let changed = try connection.run(
      """
      UPDATE media_file SET truth_id = $2::int8, modified_ns = $3::int8, variants = $4::bytea
      WHERE url = $1::text
      """, parameters)
    guard changed.changedCount == 0 else { return }
    try connection.run(
      """
      INSERT INTO media_file (url, truth_id, modified_ns, variants)
      VALUES ($1::text, $2::int8, $3::int8, $4::bytea)
      """, parameters)
  }

  /// - Returns: whether anything was known.
  func forget(_ url: String) throws -> Bool {
    try connection.run("DELETE FROM media_file WHERE url = $1::text", [.text(url)]).changedCount > 0
  }

  /// Logs the posts that show these files as changed, for callers that cache pages.
  func tell(_ urls: [String]) throws {
    if !urls.isEmpty { try connection.run(Self.tellPosts, [.texts(urls.map { $0 })]) }
  }
}
