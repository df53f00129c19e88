import Feed
import Postgres
import RowStore

/// Posts as statements tell them: each with its author in one row, and files in rows of their own, in the order of
/// their posts.
struct PostRows {
  /// The columns of a post, and of its author.
  static let columns = """
    post.post_id, post.id, post.type, post.title, post.text, post.published_at, author.id,
    author.name, post.url, post.thumbnail, post.tags, post.counters, post.language, post.extra,
    author.avatar, author.extra, post.author_id
    """
  /// The column of `columns` with the number of the author.
  static let authorColumn = 16
  /// The columns of a file.
  static let mediaColumns = """
    media.post_id, media.kind, media.url, media.mime_type, media.codec, media.width, media.height,
    media.duration_ms, media.bytes, media.alt, media.poster, media.placeholder, media.extra
    """
  /// The column where the facts about a file begin, behind its own columns, if they were queried.
  static let truthColumn = 13

  /// In the order of the numbers.
  static let byNumber = """
    SELECT \(columns) FROM unnest($1::int8[]) WITH ORDINALITY AS numbered (number, place)
    JOIN post ON post.post_id = number LEFT JOIN author USING (author_id) ORDER BY place
    """
  static let mediaByNumber = """
    SELECT \(mediaColumns), truth, variants
    FROM unnest($1::int8[]) WITH ORDINALITY AS numbered (number, place)
    JOIN media ON media.post_id = number
    LEFT JOIN media_file ON media_file.url = media.url LEFT JOIN media_truth USING (truth_id)
    ORDER BY place, ordinal
    """
  static let byID = """
    SELECT \(columns) FROM post LEFT JOIN author USING (author_id) WHERE post.id = ANY ($1::text[])
    ORDER BY post_id
    """
  static let mediaByID = """
    SELECT \(mediaColumns) FROM media JOIN post USING (post_id) WHERE post.id = ANY ($1::text[])
    ORDER BY post_id, ordinal
    """

  static let mediaWithTruthByID = """
    SELECT \(mediaColumns), truth, variants FROM post JOIN media USING (post_id)
    LEFT JOIN media_file ON media_file.url = media.url LEFT JOIN media_truth USING (truth_id)
    WHERE post.id = ANY ($1::text[]) ORDER BY post_id, ordinal
    """

  /// The facts about the file of a row.
  static func truth(_ row: RowValues) -> MediaTruth? {
    MediaRows.truth(row, at: truthColumn, variantsAt: truthColumn + 1)
  }

  /// The posts with these numbers, and their files with the facts about them.
  static func statements(_ numbers: [Int64]) -> [Statement] {
    let list = [Parameter.integers(numbers.map { $0 })]
    return [Statement(byNumber, list), Statement(mediaByNumber, list)]
  }

  /// What those answered.
  ///
  /// - Throws: `RowError`.
  static func posts(numbered rows: [Rows]) throws -> FlatPosts {
    try posts(rows[0], rows[1], isTruthTold: true)
  }

  /// The posts of these rows, with their files.
  ///
  /// - Parameter isTruthTold: the rows of files hold the facts about them, too.
  /// - Throws: `RowError`.
  static func posts(_ posts: Rows, _ media: Rows, isTruthTold: Bool = false) throws -> FlatPosts {
    var flat = FlatPosts(reservingPosts: posts.count, bytes: posts.count * 512)
    var next = 0
    for row in 0..<posts.count {
      let values = RowValues(rows: posts, row: row)
      try flat.append(values)
      let number = try values.integer(0)
      while next < media.count, media.integer(next, 0) == number {
        try flat.addMedia(RowValues(rows: media, row: next), isTruthTold: isTruthTold)
        next += 1
      }
    }
    return flat
  }
}

/// The values of one row.
struct RowValues {
  let rows: Rows
  let row: Int

  func text(_ column: Int) -> UnsafeBufferPointer<UInt8>? { rows.bytes(row, column) }
  func string(_ column: Int) -> String? { rows.text(row, column) }
  func optional(_ column: Int) -> Int64? { rows.integer(row, column) }

  /// - Throws: `RowError` for NULL.
  func integer(_ column: Int) throws -> Int64 {
    guard let number = rows.integer(row, column) else {
      throw RowError("a number is missing in column \(column)")
    }
    return number
  }

  /// - Throws: `RowError` for NULL.
  func name(_ column: Int) throws -> String {
    guard let text = rows.text(row, column) else {
      throw RowError("a text is missing in column \(column)")
    }
    return text
  }
}

extension FlatPosts {
  /// Appends the post of a row of `PostRows.columns`.
  fileprivate mutating func append(_ row: RowValues) throws {
    func text(_ column: Int) -> FlatText? { row.text(column).map { add(text: $0) } }
    guard let id = text(1), let type = row.text(2).flatMap({ PostType(utf8: $0) }) else {
      throw RowError("the post \(row.string(1) ?? "") has an unknown type")
    }
    var post = FlatPost(number: try row.integer(0), type: type, id: id)
    post.title = text(3)
    post.text = text(4)
    post.publishedAt = row.optional(5).map(Timestamp.init(microseconds:))
    post.authorID = text(6)
    post.authorName = text(7)
    post.url = text(8)
    post.thumbnail = text(9)
    post.language = text(12)
    post.extra = text(13)
    post.authorAvatar = text(14)
    post.authorExtra = text(15)
    append(post)
    if let tags = row.text(10) { try JSONText.addTags(tags, to: &self) }
    if let counters = row.text(11) { try JSONText.addCounters(counters, to: &self) }
  }

  /// Adds the file of a row of `PostRows.mediaColumns` to the last post.
  fileprivate mutating func addMedia(_ row: RowValues, isTruthTold: Bool) throws {
    func text(_ column: Int) -> FlatText? { row.text(column).map { add(text: $0) } }
    func number(_ column: Int) -> Int? { row.optional(column).map(Int.init) }
    guard let kind = row.text(1).flatMap({ MediaKind(utf8: $0) }), let url = text(2) else {
      throw RowError("a media file of post \(string(posts[count - 1].id)) has an unknown kind")
    }
    var file = FlatMedia(url: url)
    file.mimeType = text(3)
    file.codec = text(4)
    file.width = number(5)
    file.height = number(6)
    file.alt = text(9)
    file.poster = text(10)
    file.extra = text(12)
    let placeholder = try row.text(11).map { try JSONText.placeholder($0) }
    add(
      media: file, load: MediaLoad(kind: kind, bytes: number(8), durationMilliseconds: number(7)))
    if let placeholder { add(placeholder: placeholder) }
    if isTruthTold, let truth = PostRows.truth(row) { add(truth: truth) }
  }
}
