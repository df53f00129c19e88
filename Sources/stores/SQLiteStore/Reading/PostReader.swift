import Feed
import GRDB
import RowStore

/// What a page's statements read beside what every database has: to read it for nothing would be some
/// hundredths of the work for a page, and to look up each file a tenth.
struct PageColumns: OptionSet {
  let rawValue: Int
  /// What only some origins say: languages, `extra`, avatars, alternative texts, posters, placeholders.
  static let details = PageColumns(rawValue: 1)
  /// The facts about files that were inspected.
  static let truth = PageColumns(rawValue: 2)
  /// How many sets of them there are.
  static let count = 4
}

/// Reads posts with their authors and media.
struct PostReader {
  let database: Database

  private static let columns = """
    post.post_id, post.id, post.type, post.title, post.text, post.published_at,
    author.id, author.name, post.url, post.thumbnail, post.tags, post.counters
    """
  private static let details = "post.language, post.extra, author.avatar, author.extra"
  private static let mediaColumns =
    "kind, media.url, mime_type, codec, width, height, duration_ms, bytes"
  private static let mediaDetails = "alt, poster, placeholder, extra"
  /// Where details begin behind the other columns, and the facts about a file behind both.
  static let (firstDetail, firstMediaDetail): (Int32, Int32) = (12, 8)
  static let mediaDetailCount: Int32 = 4

  static let postByID = """
    SELECT \(columns), \(details) FROM post LEFT JOIN author USING (author_id) WHERE post.id = ?
    """
  static let postsAfterID = """
    SELECT \(columns), \(details) FROM post LEFT JOIN author USING (author_id)
    WHERE post.id > ? ORDER BY post.id LIMIT ?
    """
  static let mediaOfPost = """
    SELECT \(mediaColumns), \(mediaDetails) FROM media WHERE post_id = ? ORDER BY ordinal
    """

  /// `count` posts, each behind its place in the list of numbers; NULL stands for no post.
  ///
  /// SQLite takes the tables of a CROSS JOIN in the order in which they stand
  /// (https://sqlite.org/optoverview.html, section 8.1), so the rows come in the order of the list.
  /// Measured for 30 posts, this costs half of a statement run once for each, and less than `IN`,
  /// which sorts its list and leaves it to us to bring the rows back into their order.
  static func postsByNumber(count: Int, _ columns: PageColumns = []) -> String {
    """
    \(numbered(count)) SELECT place, \(self.columns)\(columns.contains(.details) ? ", " + details : "")
    FROM numbered CROSS JOIN post ON post.post_id = number LEFT JOIN author USING (author_id)
    """
  }

  static func mediaByNumber(count: Int, _ columns: PageColumns = []) -> String {
    var list = mediaColumns
    var tables = "numbered CROSS JOIN media ON media.post_id = number"
    if columns.contains(.details) { list += ", " + mediaDetails }
    if columns.contains(.truth) {
      list += ", truth, variants"
      tables += """
         LEFT JOIN media_file ON media_file.url = media.url
        LEFT JOIN media_truth USING (truth_id)
        """
    }
    return "\(numbered(count)) SELECT place, \(list) FROM \(tables)"
  }

  /// Whether facts about any file exist, and whether any row has details: each query stops at the first row.
  static let pageColumns = """
    SELECT EXISTS (SELECT 1 FROM media_file),
      EXISTS (SELECT 1 FROM post INDEXED BY post_with_details
        WHERE language IS NOT NULL OR extra IS NOT NULL)
      OR EXISTS (SELECT 1 FROM media INDEXED BY media_with_details WHERE
        alt IS NOT NULL OR poster IS NOT NULL OR placeholder IS NOT NULL OR extra IS NOT NULL)
      OR EXISTS (SELECT 1 FROM author INDEXED BY author_with_details
        WHERE avatar IS NOT NULL OR extra IS NOT NULL)
    """

  private static func numbered(_ count: Int) -> String {
    let values = (0..<count).map { "(\($0),?)" }.joined(separator: ",")
    return "WITH numbered (place, number) AS (VALUES \(values))"
  }

  /// The post with this id.
  func post(withID id: String) throws -> StoredPost? {
    let rows = RowReader(try database.cachedStatement(sql: Self.postByID))
    defer { rows.reset() }
    try rows.bind(id, at: 1)
    guard try rows.next() else { return nil }
    var flat = FlatPosts()
    try flat.appendPost(rows, from: 0)
    try addMedia(to: &flat)
    return StoredPost(number: flat.posts[0].number, post: flat.post(at: 0))
  }

  /// Up to `limit` posts behind the id, in the order of their ids.
  func posts(afterID id: String, limit: Int) throws -> FlatPosts {
    let rows = RowReader(try database.cachedStatement(sql: Self.postsAfterID))
    defer { rows.reset() }
    try rows.bind(id, at: 1)
    try rows.bind(Int64(limit), at: 2)
    var flat = FlatPosts()
    while try rows.next() {
      try flat.appendPost(rows, from: 0)
      try addMedia(to: &flat)
    }
    return flat
  }

  /// Reads the media of the last post.
  private func addMedia(to flat: inout FlatPosts) throws {
    let rows = RowReader(try database.cachedStatement(sql: Self.mediaOfPost))
    defer { rows.reset() }
    try rows.bind(flat.posts[flat.count - 1].number, at: 1)
    while try rows.next() { try flat.addMedia(rows, from: 0) }
  }
}

extension FlatPosts {
  /// Appends the post of a row, whose columns begin at `first`.
  mutating func appendPost(
    _ row: RowReader, from first: Int32, _ columns: PageColumns = .details
  ) throws {
    func text(_ column: Int32) -> FlatText? { row.text(first + column).map { add(text: $0) } }
    let type = row.text(first + 2).flatMap { PostType(utf8: $0) }
    guard let id = text(1), let type else {
      throw RowError("the post \(row.string(first + 1)) has an unknown type")
    }
    var post = FlatPost(number: row.integer(first), type: type, id: id)
    post.title = text(3)
    post.text = text(4)
    post.publishedAt = row.optionalInteger(first + 5).map(Timestamp.init(microseconds:))
    post.authorID = text(6)
    post.authorName = text(7)
    post.url = text(8)
    post.thumbnail = text(9)
    if columns.contains(.details) {
      post.language = text(PostReader.firstDetail)
      post.extra = text(PostReader.firstDetail + 1)
      post.authorAvatar = text(PostReader.firstDetail + 2)
      post.authorExtra = text(PostReader.firstDetail + 3)
    }
    append(post)
    if let tags = row.text(first + 10) { try JSONText.addTags(tags, to: &self) }
    if let counters = row.text(first + 11) { try JSONText.addCounters(counters, to: &self) }
  }

  /// Adds the media file of a row, whose columns begin at `first`, to the last post.
  mutating func addMedia(
    _ row: RowReader, from first: Int32, _ columns: PageColumns = .details
  ) throws {
    func text(_ column: Int32) -> FlatText? { row.text(first + column).map { add(text: $0) } }
    func number(_ column: Int32) -> Int? { row.optionalInteger(first + column).map(Int.init) }
    guard let kind = row.text(first).flatMap({ MediaKind(utf8: $0) }), let url = text(1) else {
      let post = string(posts[count - 1].id)
      throw RowError("a media file of post \(post) has an unknown kind")
    }
    var file = FlatMedia(url: url)
    file.mimeType = text(2)
    file.codec = text(3)
    file.width = number(4)
    file.height = number(5)
    var next = first + PostReader.firstMediaDetail
    var placeholder: MediaPlaceholder?
    if columns.contains(.details) {
      file.alt = row.text(next).map { add(text: $0) }
      file.poster = row.text(next + 1).map { add(text: $0) }
      placeholder = try row.text(next + 2).map { try JSONText.placeholder($0) }
      file.extra = row.text(next + 3).map { add(text: $0) }
      next += PostReader.mediaDetailCount
    }
    add(
      media: file, load: MediaLoad(kind: kind, bytes: number(7), durationMilliseconds: number(6)))
    if let placeholder { add(placeholder: placeholder) }
    if columns.contains(.truth),
      let truth = MediaTable.truth(row, at: next, variantsAt: next + 1)
    {
      add(truth: truth)
    }
  }
}
