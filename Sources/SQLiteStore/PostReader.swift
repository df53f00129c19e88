import Feed
import GRDB

/// Reads posts with their authors and media.
struct PostReader {
  let database: Database

  private static let columns = """
    post.post_id, post.id, post.type, post.title, post.text, post.published_at,
    author.id, author.name, post.url, post.thumbnail, post.tags, post.counters
    """
  private static let mediaColumns =
    "post_id, kind, url, mime_type, codec, width, height, duration_ms, bytes"

  static let postByID = """
    SELECT \(columns) FROM post LEFT JOIN author USING (author_id) WHERE post.id = ?
    """
  static let mediaOfPost = """
    SELECT \(mediaColumns) FROM media WHERE post_id = ? ORDER BY ordinal
    """
  static let postsAfterID = """
    SELECT \(columns) FROM post LEFT JOIN author USING (author_id)
    WHERE post.id > ? ORDER BY post.id LIMIT ?
    """

  /// A statement for so many posts; a page has at most a hundred, so the cache of statements stays
  /// small.
  static func postsByNumber(count: Int) -> String {
    """
    SELECT \(columns) FROM post LEFT JOIN author USING (author_id)
    WHERE post.post_id IN (\(marks(count)))
    """
  }

  static func mediaByNumber(count: Int) -> String {
    "SELECT \(mediaColumns) FROM media WHERE post_id IN (\(marks(count))) ORDER BY post_id, ordinal"
  }

  private static func marks(_ count: Int) -> String {
    "?" + String(repeating: ",?", count: count - 1)
  }

  /// A post and its row's number.
  struct Stored {
    let number: Int64
    var post: Post
  }

  /// The posts with these numbers.
  private func posts(_ numbers: [Int64]) throws -> [Int64: Post] {
    guard !numbers.isEmpty else { return [:] }
    let arguments = StatementArguments(numbers)
    var posts: [Int64: Post] = Dictionary(minimumCapacity: numbers.count)
    let statement = try database.cachedStatement(sql: Self.postsByNumber(count: numbers.count))
    let rows = try Row.fetchCursor(statement, arguments: arguments)
    while let row = try rows.next() {
      let stored = try Self.stored(row)
      posts[stored.number] = stored.post
    }
    let mediaStatement = try database.cachedStatement(
      sql: Self.mediaByNumber(count: numbers.count))
    let mediaRows = try Row.fetchCursor(mediaStatement, arguments: arguments)
    while let row = try mediaRows.next() {
      posts[row[0]]?.media.append(try Self.media(row))
    }
    return posts
  }

  /// The posts with these numbers, in this order; the ones that are gone are left out.
  func flatPosts(_ numbers: [Int64]) throws -> FlatPosts {
    var flat = FlatPosts(reservingPosts: numbers.count, bytes: numbers.count * 400)
    let posts = try posts(numbers)
    for number in numbers {
      if let post = posts[number] { flat.append(post, number: number) }
    }
    return flat
  }

  /// The post with this id.
  func post(withID id: String) throws -> Stored? {
    let statement = try database.cachedStatement(sql: Self.postByID)
    guard let row = try Row.fetchOne(statement, arguments: [id]) else { return nil }
    var stored = try Self.stored(row)
    try addMedia(to: &stored)
    return stored
  }

  /// Up to `limit` posts behind the id, in the order of their ids.
  func posts(afterID id: String, limit: Int) throws -> [Stored] {
    let statement = try database.cachedStatement(sql: Self.postsAfterID)
    return try Row.fetchAll(statement, arguments: [id, limit]).map { row in
      var stored = try Self.stored(row)
      try addMedia(to: &stored)
      return stored
    }
  }

  private func addMedia(to stored: inout Stored) throws {
    let statement = try database.cachedStatement(sql: Self.mediaOfPost)
    let rows = try Row.fetchCursor(statement, arguments: [stored.number])
    while let row = try rows.next() { stored.post.media.append(try Self.media(row)) }
  }

  private static func stored(_ row: Row) throws -> Stored {
    let id: String = row[1]
    guard let type = PostType(rawValue: row[2]) else {
      throw DatabaseError(message: "the post \(id) has an unknown type")
    }
    let authorID: String? = row[6]
    var post = Post(
      id: id, type: type, title: row[3], text: row[4],
      publishedAt: (row[5] as Int64?).map(Timestamp.init(microseconds:)),
      author: authorID.map { Author(id: $0, name: row[7]) }, url: row[8], thumbnail: row[9])
    post.tags = try (row[10] as String?).map(JSONText.strings) ?? []
    post.counters = try (row[11] as String?).map(JSONText.counters) ?? []
    return Stored(number: row[0], post: post)
  }

  private static func media(_ row: Row) throws -> Media {
    guard let kind = MediaKind(rawValue: row[1]) else {
      throw DatabaseError(message: "a media file of post \(row[0] as Int64) has an unknown kind")
    }
    return Media(
      kind: kind, url: row[2], mimeType: row[3], codec: row[4], width: row[5], height: row[6],
      durationMilliseconds: row[7], bytes: row[8])
  }
}
