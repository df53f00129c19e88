import Feed
import GRDB
import RowStore

extension SQLiteRows {
  func post(withID id: String) throws -> StoredPost? {
    try PostReader(database: database).post(withID: id)
  }

  func placements(of post: StoredPost) throws -> [Placement] {
    try PostReader(database: database).placements(ofPost: post.number)
  }

  static let deletePost = "DELETE FROM post WHERE post_id = ?"
  static let updateCounters = "UPDATE post SET counters = ? WHERE post_id = ?"

  func set(_ counters: [Counter], of post: StoredPost) throws {
    try execute(Self.updateCounters, [JSONText.text(counters), post.number])
  }

  func delete(_ post: StoredPost) throws { try execute(Self.deletePost, [post.number]) }

  func insert(_ post: Post) throws -> Int64 {
    try execute(
      """
      INSERT INTO post (type, title, text, language, published_at, author_id, url, thumbnail, tags,
        counters, extra, id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, try values(of: post))
    let number = database.lastInsertedRowID
    try insertMedia(of: post, number)
    return number
  }

  func update(_ stored: StoredPost, to post: Post, isRun: Bool) throws {
    try execute(
      """
      UPDATE post SET type = ?, title = ?, text = ?, language = ?, published_at = ?, author_id = ?,
        url = ?, thumbnail = ?, tags = ?, counters = ?, extra = ? WHERE id = ?
      """, try values(of: post))
    if let old = stored.post.author, old != post.author {
      // Of a run there may be thousands such: without the index each would read all posts.
      if isRun { try LateIndexes.make(database) }
      try execute(
        """
        DELETE FROM author WHERE \(Self.isAuthor)
          AND NOT EXISTS (SELECT 1 FROM post WHERE post.author_id = author.author_id)
        """, Self.key(of: old))
    }
    if stored.post.media != post.media {
      try execute("DELETE FROM media WHERE post_id = ?", [stored.number])
      try insertMedia(of: post, stored.number)
    }
  }

  private func values(of post: Post) throws -> [any Bindable] {
    [
      post.type.rawValue, post.title, post.text, post.language, post.publishedAt?.microseconds,
      try post.author.map(authorNumber), post.url, post.thumbnail, JSONText.text(post.tags),
      JSONText.text(post.counters), post.extra?.json, post.id,
    ]
  }

  /// As the index `author_by_id` has its columns.
  private static let isAuthor = """
    coalesce(id, '') = ? AND coalesce(name, '') = ? AND coalesce(avatar, '') = ?
      AND coalesce(extra, '') = ?
    """
  static let authorNumber = "SELECT author_id FROM author WHERE \(isAuthor)"

  private static func key(of author: Author) -> [any Bindable] {
    [author.id ?? "", author.name ?? "", author.avatar ?? "", author.extra?.json ?? ""]
  }

  private func authorNumber(_ author: Author) throws -> Int64 {
    if let found = try number(Self.authorNumber, Self.key(of: author)) { return found }
    try execute(
      "INSERT INTO author (id, name, avatar, extra) VALUES (?, ?, ?, ?)",
      [author.id, author.name, author.avatar, author.extra?.json])
    return database.lastInsertedRowID
  }

  private func insertMedia(of post: Post, _ number: Int64) throws {
    for (ordinal, media) in post.media.enumerated() {
      try execute(
        """
        INSERT INTO media
          (post_id, ordinal, kind, url, alt, poster, mime_type, codec, width, height, duration_ms,
            bytes, placeholder, extra)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
          number, ordinal, media.kind.rawValue, media.url, media.alt, media.poster, media.mimeType,
          media.codec, media.width, media.height, media.durationMilliseconds, media.bytes,
          JSONText.text(media.placeholder), media.extra?.json,
        ])
    }
  }
}
