import Feed
import GRDB

/// Reads posts with their authors and media.
struct PostReader {
  let database: Database

  private static let columns = """
    post.post_id, post.id, post.type, post.title, post.text, post.published_at,
    author.id, author.name, post.url, post.thumbnail, post.tags, post.counters,
    post.language, post.extra, author.avatar, author.extra
    """
  private static let mediaColumns = """
    kind, media.url, mime_type, codec, width, height, duration_ms, bytes,
    alt, poster, placeholder, extra
    """
  /// How many columns those are.
  static let mediaColumnCount: Int32 = 12

  static let postByID = """
    SELECT \(columns) FROM post LEFT JOIN author USING (author_id) WHERE post.id = ?
    """
  static let postsAfterID = """
    SELECT \(columns) FROM post LEFT JOIN author USING (author_id)
    WHERE post.id > ? ORDER BY post.id LIMIT ?
    """
  static let mediaOfPost = """
    SELECT \(mediaColumns) FROM media WHERE post_id = ? ORDER BY ordinal
    """

  /// So many posts, each behind its place in the list of numbers; NULL is none.
  ///
  /// SQLite takes the tables of a CROSS JOIN in the order in which they stand
  /// (https://sqlite.org/optoverview.html, section 8.1), so the rows come in the order of the list.
  /// Measured for 30 posts, this costs half of a statement run once for each, and less than `IN`,
  /// which sorts its list and leaves it to us to bring the rows back into their order.
  static func postsByNumber(count: Int) -> String {
    """
    \(numbered(count)) SELECT place, \(columns)
    FROM numbered CROSS JOIN post ON post.post_id = number LEFT JOIN author USING (author_id)
    """
  }

  static func mediaByNumber(count: Int) -> String {
    """
    \(numbered(count)) SELECT place, \(mediaColumns)
    FROM numbered CROSS JOIN media ON media.post_id = number
    """
  }

  /// The same with what is known of the files, for a database that knows anything of any: to look each file
  /// up for nothing would be a tenth of the work for a page.
  static func knownMediaByNumber(count: Int) -> String {
    """
    \(numbered(count)) SELECT place, \(mediaColumns), truth, variants
    FROM numbered CROSS JOIN media ON media.post_id = number
      LEFT JOIN media_file ON media_file.url = media.url LEFT JOIN media_truth USING (truth_id)
    """
  }

  static let isAnyMediaKnown = "SELECT EXISTS (SELECT 1 FROM media_file)"

  private static func numbered(_ count: Int) -> String {
    let values = (0..<count).map { "(\($0),?)" }.joined(separator: ",")
    return "WITH numbered (place, number) AS (VALUES \(values))"
  }

  /// A post and its row's number.
  struct Stored {
    let number: Int64
    let post: Post
  }

  /// The post with this id.
  func post(withID id: String) throws -> Stored? {
    let rows = RowReader(try database.cachedStatement(sql: Self.postByID))
    defer { rows.reset() }
    rows.bind(id, at: 1)
    guard try rows.next() else { return nil }
    var flat = FlatPosts()
    try flat.appendPost(rows, from: 0)
    try addMedia(to: &flat)
    return Stored(number: flat.posts[0].number, post: flat.post(at: 0))
  }

  /// Up to `limit` posts behind the id, in the order of their ids.
  func posts(afterID id: String, limit: Int) throws -> FlatPosts {
    let rows = RowReader(try database.cachedStatement(sql: Self.postsAfterID))
    defer { rows.reset() }
    rows.bind(id, at: 1)
    rows.bind(Int64(limit), at: 2)
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
    rows.bind(flat.posts[flat.count - 1].number, at: 1)
    while try rows.next() { try flat.addMedia(rows, from: 0) }
  }
}

extension FlatPosts {
  /// Appends the post of a row, whose columns begin at `first`.
  mutating func appendPost(_ row: RowReader, from first: Int32) throws {
    func text(_ column: Int32) -> FlatText? { row.text(first + column).map { add(text: $0) } }
    let type = row.text(first + 2).flatMap { PostType(utf8: $0) }
    guard let id = text(1), let type else {
      throw DatabaseError(message: "the post \(row.string(first + 1)) has an unknown type")
    }
    var post = FlatPost(number: row.integer(first), type: type, id: id)
    post.title = text(3)
    post.text = text(4)
    post.publishedAt = row.optionalInteger(first + 5).map(Timestamp.init(microseconds:))
    post.authorID = text(6)
    post.authorName = text(7)
    post.url = text(8)
    post.thumbnail = text(9)
    post.language = text(12)
    post.extra = text(13)
    post.authorAvatar = text(14)
    post.authorExtra = text(15)
    append(post)
    if let tags = row.text(first + 10) { try JSONText.addTags(tags, to: &self) }
    if let counters = row.text(first + 11) { try JSONText.addCounters(counters, to: &self) }
  }

  /// Adds the media file of a row, whose columns begin at `first`, to the last post.
  ///
  /// - Parameter truthColumn: where what is known of it stands, where that was asked for; its variants are
  ///   behind that.
  mutating func addMedia(_ row: RowReader, from first: Int32, truthColumn: Int32? = nil) throws {
    func text(_ column: Int32) -> FlatText? { row.text(first + column).map { add(text: $0) } }
    func number(_ column: Int32) -> Int? { row.optionalInteger(first + column).map(Int.init) }
    guard let kind = row.text(first).flatMap({ MediaKind(utf8: $0) }), let url = text(1) else {
      let post = string(posts[count - 1].id)
      throw DatabaseError(message: "a media file of post \(post) has an unknown kind")
    }
    var file = FlatMedia(url: url)
    file.mimeType = text(2)
    file.codec = text(3)
    file.width = number(4)
    file.height = number(5)
    file.alt = text(8)
    file.poster = text(9)
    file.extra = text(11)
    add(
      media: file, load: MediaLoad(kind: kind, bytes: number(7), durationMilliseconds: number(6)))
    if let json = row.text(first + 10) { try add(placeholder: JSONText.placeholder(json)) }
    if let truthColumn,
      let truth = MediaTable.truth(row, at: truthColumn, variantsAt: truthColumn + 1)
    {
      add(truth: truth)
    }
  }
}

extension PostType {
  fileprivate init?(utf8: UnsafeBufferPointer<UInt8>) {
    // By their first letters, and two by their lengths.
    switch utf8.first {
    case UInt8(ascii: "i"): self = .image
    case UInt8(ascii: "v"): self = .video
    case UInt8(ascii: "c"): self = .carousel
    case UInt8(ascii: "w"): self = .webapp
    case UInt8(ascii: "a"): self = utf8.count == 2 ? .ad : .audio
    case UInt8(ascii: "t"): self = .text
    default: return nil
    }
    guard utf8.isSame(as: rawValue) else { return nil }
  }
}

extension MediaKind {
  fileprivate init?(utf8: UnsafeBufferPointer<UInt8>) {
    switch utf8.first {
    case UInt8(ascii: "v"): self = .video
    case UInt8(ascii: "a"): self = .audio
    default: self = .image
    }
    guard utf8.isSame(as: rawValue) else { return nil }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether these are the bytes of a short text: `elementsEqual` takes ten times as long for one.
  fileprivate func isSame(as text: String) -> Bool {
    var text = text
    return text.withUTF8 { text in
      guard text.count == count else { return false }
      for index in indices where text[index] != self[index] { return false }
      return true
    }
  }
}
