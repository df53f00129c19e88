import Feed
import GRDB
import RowStore

/// The columns of a page that many databases do not use. Reading them for nothing would add some hundredths to
/// the work for a page; to look up each file, a tenth.
struct PageColumns: OptionSet {
  let rawValue: Int
  /// Fields that only some origins have: languages, `extra`, avatars, alternative texts, posters,
  /// placeholders.
  static let details = PageColumns(rawValue: 1)
  /// Facts about inspected files.
  static let truth = PageColumns(rawValue: 2)
  /// The number of different sets.
  static let count = 4
}

/// Reads posts with their authors and media.
struct PostReader {
  let database: Database

  private static let columns = "\(PostColumns.readPost), \(PostColumns.readPostDetails)"

  static let postByID = """
    SELECT \(columns) FROM post LEFT JOIN author USING (author_id) WHERE post.id = ?
    """
  static let postsAfterID = """
    SELECT \(columns) FROM post LEFT JOIN author USING (author_id)
    WHERE post.id > ? ORDER BY post.id LIMIT ?
    """
  static let mediaOfPost = """
    SELECT \(PostColumns.readMedia), \(PostColumns.readMediaDetails) FROM media WHERE post_id = ? ORDER BY ordinal
    """

  /// SQL for `count` posts, each with its place in the list of numbers. NULL in the list stands for no
  /// post.
  ///
  /// SQLite takes the tables of a CROSS JOIN in the order in which they are written
  /// (https://sqlite.org/optoverview.html, section 8.1), so the rows come in the order of the list.
  /// Measured for 30 posts, this costs half as much as one statement for each post, and less than `IN`,
  /// which sorts its list, so that the rows would have to be put back in order.
  static func postsByNumber(count: Int, _ columns: PageColumns = []) -> String {
    """
    \(numbered(count))
    SELECT place, \(columns.contains(.details) ? self.columns : PostColumns.readPost)
    FROM numbered CROSS JOIN post ON post.post_id = number LEFT JOIN author USING (author_id)
    """
  }

  static func mediaByNumber(count: Int, _ columns: PageColumns = []) -> String {
    var list = PostColumns.readMedia
    var tables = "numbered CROSS JOIN media ON media.post_id = number"
    if columns.contains(.details) { list += ", " + PostColumns.readMediaDetails }
    if columns.contains(.truth) {
      list += ", truth, variants"
      tables += """
         LEFT JOIN media_file ON media_file.url = media.url
        LEFT JOIN media_truth USING (truth_id)
        """
    }
    return "\(numbered(count)) SELECT place, \(list) FROM \(tables)"
  }

  /// Whether any file has facts, and whether any row has details. Each query stops at the first row.
  static let pageColumns: String = {
    let details = (PostColumns.postDetails + PostColumns.mediaDetails).map { of in
      let isThere = of.columns.map { "\($0) IS NOT NULL" }.joined(separator: " OR ")
      return "EXISTS (SELECT 1 FROM \(of.table) INDEXED BY \(of.index) WHERE \(isThere))"
    }
    return "SELECT EXISTS (SELECT 1 FROM media_file), " + details.joined(separator: " OR ")
  }()

  private static func numbered(_ count: Int) -> String {
    let values = (0..<count).map { "(\($0),?)" }.joined(separator: ",")
    return "WITH numbered (place, number) AS (VALUES \(values))"
  }

  /// Returns the post with this id.
  func post(withID id: String) throws -> StoredPost? {
    let rows = RowReader(try database.cachedStatement(sql: Self.postByID))
    defer { rows.reset() }
    try rows.bind(id, at: 1)
    guard try rows.next() else { return nil }
    var flat = FlatPosts()
    try flat.appendPost(rows, from: 0, isDetailed: true)
    try addMedia(to: &flat)
    return StoredPost(number: flat.posts[0].number, post: flat.post(at: 0))
  }

  /// Returns up to `limit` posts after the id, in the order of their ids.
  func posts(afterID id: String, limit: Int) throws -> FlatPosts {
    let rows = RowReader(try database.cachedStatement(sql: Self.postsAfterID))
    defer { rows.reset() }
    try rows.bind(id, at: 1)
    try rows.bind(Int64(limit), at: 2)
    var flat = FlatPosts()
    while try rows.next() {
      try flat.appendPost(rows, from: 0, isDetailed: true)
      try addMedia(to: &flat)
    }
    return flat
  }

  /// Adds the media of the last post.
  private func addMedia(to flat: inout FlatPosts) throws {
    let rows = RowReader(try database.cachedStatement(sql: Self.mediaOfPost))
    defer { rows.reset() }
    try rows.bind(flat.posts[flat.count - 1].number, at: 1)
    while try rows.next() { _ = try flat.addMedia(rows, from: 0, isDetailed: true) }
  }
}
