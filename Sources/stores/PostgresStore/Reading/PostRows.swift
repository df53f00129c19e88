import Feed
import Postgres
import RowStore

/// Posts in the results of statements: each with its author in one row, and files in rows of their own, in
/// the order of their posts.
struct PostRows {
  /// The columns of a post and its author.
  static let columns =
    "\(PostColumns.readPost), \(PostColumns.readPostDetails), post.author_id"
  /// The index in `columns` of the author's number.
  static let authorColumn = PostColumns.readPostCount
  /// The columns of a file, after the number of its post.
  static let mediaColumns =
    "media.post_id, \(PostColumns.readMedia), \(PostColumns.readMediaDetails)"

  /// Selects posts in the order of the numbers.
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

  /// Returns the facts about the file of a row, which follow the file's own columns.
  static func truth(_ row: RowValues) -> MediaTruth? {
    let first = 1 + PostColumns.readMediaCount
    return MediaRows.truth(row, at: first, variantsAt: first + 1)
  }

  /// Returns the statements for the posts with these numbers, and their files with the facts about them.
  static func statements(_ numbers: [Int64]) -> [Statement] {
    let list = [Parameter.integers(numbers.map { $0 })]
    return [Statement(byNumber, list), Statement(mediaByNumber, list)]
  }

  /// Reads the results of `statements(_:)`.
  ///
  /// - Throws: `RowError`.
  static func posts(numbered rows: [Rows]) throws -> FlatPosts {
    try posts(rows[0], rows[1], isTruthTold: true)
  }

  /// Reads the posts of these rows, with their files.
  ///
  /// - Parameter isTruthTold: whether the rows of files also hold the facts about them.
  /// - Throws: `RowError`.
  static func posts(_ posts: Rows, _ media: Rows, isTruthTold: Bool = false) throws -> FlatPosts {
    var flat = FlatPosts(reservingPosts: posts.count, bytes: posts.count * 512)
    var next = 0
    for row in 0..<posts.count {
      let values = RowValues(rows: posts, row: row)
      try flat.appendPost(values, from: 0, isDetailed: true)
      let number = try values.integer(0)
      while next < media.count, media.integer(next, 0) == number {
        let file = RowValues(rows: media, row: next)
        _ = try flat.addMedia(file, from: 1, isDetailed: true)
        if isTruthTold, let truth = truth(file) { flat.add(truth: truth) }
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

extension Rows {
  /// The rows, one at a time.
  var values: some Sequence<RowValues> { (0..<count).lazy.map { RowValues(rows: self, row: $0) } }
}

extension RowValues: ColumnRow {
  func number(_ column: Int) -> Int64? { optional(column) }
}
