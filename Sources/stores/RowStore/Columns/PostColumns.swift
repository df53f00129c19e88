import Feed

/// The columns of posts, their authors and their files: every store writes and reads them from these lists.
///
/// A new field of a post takes a line in `post` or `media`, which are written; its column in `postDetails`
/// or `mediaDetails`, which are read; its line in `appendPost` or `addMedia`, by its index among these; and
/// a migration for each database, for SQLite with the partial index that the details name.
package enum PostColumns {
  /// A column, and its value for a record.
  package struct Column<Record>: Sendable {
    package let name: String
    package let kind: StoreTable.Kind
    package let value: @Sendable (Record) -> ColumnValue
  }

  // MARK: Columns that are written

  /// The columns of `post` except its number, its id and its author.
  package static let post: [Column<Post>] = [
    text("type") { $0.type.rawValue },
    text("title") { $0.title },
    text("text") { $0.text },
    text("language") { $0.language },
    integer("published_at") { $0.publishedAt?.microseconds },
    integer("visible_from") { $0.visibleFrom?.microseconds },
    integer("visible_until") { $0.visibleUntil?.microseconds },
    text("url") { $0.url },
    text("thumbnail") { $0.thumbnail },
    text("tags") { JSONText.text($0.tags) },
    text("counters") { JSONText.text($0.counters) },
    text("extra") { $0.extra?.json },
  ]

  /// The columns of `author` except its number.
  package static let author: [Column<Author>] = [
    text("id") { $0.id },
    text("name") { $0.name },
    text("avatar") { $0.avatar },
    text("extra") { $0.extra?.json },
  ]

  /// The columns of `media` except its post and its place there.
  package static let media: [Column<Media>] = [
    text("kind") { $0.kind.rawValue },
    text("url") { $0.url },
    text("alt") { $0.alt },
    text("poster") { $0.poster },
    text("mime_type") { $0.mimeType },
    text("codec") { $0.codec },
    integer("width") { $0.width.map(Int64.init) },
    integer("height") { $0.height.map(Int64.init) },
    integer("duration_ms") { $0.durationMilliseconds.map(Int64.init) },
    integer("bytes") { $0.bytes.map(Int64.init) },
    text("placeholder") { JSONText.text($0.placeholder) },
    text("extra") { $0.extra?.json },
  ]

  private static func text<Record>(
    _ name: String, _ value: @escaping @Sendable (Record) -> String?
  ) -> Column<Record> {
    Column(name: name, kind: .text) { .text(value($0)) }
  }

  private static func integer<Record>(
    _ name: String, _ value: @escaping @Sendable (Record) -> Int64?
  ) -> Column<Record> {
    Column(name: name, kind: .integer) { .integer(value($0)) }
  }

  /// Returns the columns in the notation of `StoreTable`.
  static func declared<Record>(_ columns: [Column<Record>]) -> String {
    columns.map { ($0.kind == .integer ? "#" : "") + $0.name }.joined(separator: " ")
  }

  // MARK: Columns that are read

  /// Columns that only some origins fill, and SQLite's partial index of the rows in which one of them is
  /// set: pages leave them out if there is no such row.
  package struct Details: Sendable {
    package let table: String
    package let index: String
    package let columns: [String]
  }

  /// The columns of a post and its author, as `FlatPosts.appendPost` reads them.
  private static let postBase = [
    "post.post_id", "post.id", "post.type", "post.title", "post.text", "post.published_at",
    "author.id", "author.name", "post.url", "post.thumbnail", "post.tags", "post.counters",
  ]
  /// The details that follow them.
  package static let postDetails = [
    Details(table: "post", index: "post_with_details", columns: ["language", "extra"]),
    Details(table: "author", index: "author_with_details", columns: ["avatar", "extra"]),
    Details(table: "post", index: "post_with_survival", columns: ["survival"]),
    Details(
      table: "post", index: "post_with_schedule", columns: ["visible_from", "visible_until"]),
  ]
  package static let readPost = postBase.joined(separator: ", ")
  package static let readPostDetails = names(postDetails).joined(separator: ", ")
  /// The number of columns of `readPost` and `readPostDetails` together.
  package static let readPostCount = postBase.count + names(postDetails).count

  /// The columns of a file, as `FlatPosts.addMedia` reads them.
  private static let mediaBase = [
    "media.kind", "media.url", "media.mime_type", "media.codec", "media.width", "media.height",
    "media.duration_ms", "media.bytes",
  ]
  /// The details that follow them.
  package static let mediaDetails = [
    Details(
      table: "media", index: "media_with_details",
      columns: ["alt", "poster", "placeholder", "extra"])
  ]
  package static let readMedia = mediaBase.joined(separator: ", ")
  package static let readMediaDetails = names(mediaDetails).joined(separator: ", ")
  /// The number of columns of `readMedia` and `readMediaDetails` together.
  package static let readMediaCount = mediaBase.count + names(mediaDetails).count

  private static func names(_ details: [Details]) -> [String] {
    details.flatMap { of in of.columns.map { "\(of.table).\($0)" } }
  }
}

/// The value of a column.
package enum ColumnValue {
  case text(String?)
  case integer(Int64?)
}

extension [PostColumns.Column<Post>] {
  /// The columns' names, for a statement.
  package var names: String { map(\.name).joined(separator: ", ") }
}

extension [PostColumns.Column<Author>] {
  /// The columns' names, for a statement.
  package var names: String { map(\.name).joined(separator: ", ") }
}

extension [PostColumns.Column<Media>] {
  /// The columns' names, for a statement.
  package var names: String { map(\.name).joined(separator: ", ") }
}

/// A row in the result of a statement, in the database's memory.
///
/// Inlinable, like everything that is generic over it: every page is read by code specialized for each
/// store's rows.
@usableFromInline package protocol ColumnRow {
  /// Returns the text in the column; `nil` for NULL.
  func text(_ column: Int) -> UnsafeBufferPointer<UInt8>?
  /// Returns the number in the column; `nil` for NULL.
  func number(_ column: Int) -> Int64?
}

extension FlatPosts {
  /// Appends the post of a row, whose columns of `PostColumns.readPost` begin at `first`.
  ///
  /// - Parameter isDetailed: whether those of `readPostDetails` follow.
  /// - Throws: `RowError`.
  @inlinable package mutating func appendPost(
    _ row: some ColumnRow, from first: Int, isDetailed: Bool
  ) throws {
    func text(_ column: Int) -> FlatText? { row.text(first + column).map { add(text: $0) } }
    let type = row.text(first + 2).flatMap { PostType(utf8: $0) }
    guard let number = row.number(first), let id = text(1), let type else {
      let id = row.text(first + 1).map { String(decoding: $0, as: UTF8.self) } ?? ""
      throw RowError("the post \(id) has an unknown type")
    }
    var post = FlatPost(number: number, type: type, id: id)
    post.title = text(3)
    post.text = text(4)
    post.publishedAt = row.number(first + 5).map(Timestamp.init(microseconds:))
    post.authorID = text(6)
    post.authorName = text(7)
    post.url = text(8)
    post.thumbnail = text(9)
    if isDetailed {
      post.language = text(12)
      post.extra = text(13)
      post.authorAvatar = text(14)
      post.authorExtra = text(15)
      post.survival = text(16)
      post.visibleFrom = row.number(first + 17).map(Timestamp.init(microseconds:))
      post.visibleUntil = row.number(first + 18).map(Timestamp.init(microseconds:))
    }
    append(post)
    if let tags = row.text(first + 10) { try JSONText.addTags(tags, to: &self) }
    if let counters = row.text(first + 11) { try JSONText.addCounters(counters, to: &self) }
  }

  /// Adds the file of a row, whose columns of `PostColumns.readMedia` begin at `first`, to the last post.
  ///
  /// - Parameter isDetailed: whether those of `readMediaDetails` follow.
  /// - Returns: the index of the column after these.
  /// - Throws: `RowError`.
  @inlinable package mutating func addMedia(
    _ row: some ColumnRow, from first: Int, isDetailed: Bool
  ) throws -> Int {
    func text(_ column: Int) -> FlatText? { row.text(first + column).map { add(text: $0) } }
    func number(_ column: Int) -> Int? { row.number(first + column).map(Int.init) }
    guard let kind = row.text(first).flatMap({ MediaKind(utf8: $0) }), let url = text(1) else {
      throw RowError("a media file of post \(string(posts[count - 1].id)) has an unknown kind")
    }
    var file = FlatMedia(url: url)
    file.mimeType = text(2)
    file.codec = text(3)
    file.width = number(4)
    file.height = number(5)
    var placeholder: MediaPlaceholder?
    if isDetailed {
      file.alt = text(8)
      file.poster = text(9)
      placeholder = try row.text(first + 10).map { try JSONText.placeholder($0) }
      file.extra = text(11)
    }
    add(
      media: file, load: MediaLoad(kind: kind, bytes: number(7), durationMilliseconds: number(6)))
    if let placeholder { add(placeholder: placeholder) }
    return first + (isDetailed ? 12 : 8)
  }
}
