import Feed
import GRDB
import RowStore

/// The statements that read a page's posts, prepared once for a connection.
struct PageStatements {
  /// The numbers of posts for which there are statements. A page takes the next larger one and leaves its
  /// remaining places empty. More posts than the largest are read in portions.
  private static let sizes = [1, 8, 32, 100]
  private var posts = Self.none
  private var media = Self.none
  private var pageColumns: Statement?

  /// No statement yet, for each size and each set of columns.
  private static var none: [[Statement?]] {
    Array(repeating: sizes.map { _ in nil }, count: PageColumns.count)
  }

  /// Returns the posts with these numbers, in this order. Posts that are gone are left out.
  mutating func posts(_ numbers: [Int64], _ database: Database) throws -> FlatPosts {
    // Most posts have less text than this.
    var flat = FlatPosts(reservingPosts: numbers.count, bytes: numbers.count * 512)
    var rest = numbers[...]
    let columns = try columns(database)
    while !rest.isEmpty {
      try read(rest.prefix(Self.sizes[Self.sizes.count - 1]), columns, into: &flat, database)
      rest = rest.dropFirst(Self.sizes[Self.sizes.count - 1])
    }
    return flat
  }

  private mutating func read(
    _ numbers: ArraySlice<Int64>, _ columns: PageColumns, into flat: inout FlatPosts,
    _ database: Database
  ) throws {
    let size = Self.sizes.firstIndex { $0 >= numbers.count }!
    let posts = RowReader(try posts(size, columns, database))
    let media = RowReader(try media(size, columns, database))
    defer {
      posts.reset()
      media.reset()
    }
    for index in 0..<Self.sizes[size] {
      let number = index < numbers.count ? numbers[numbers.startIndex + index] : nil
      try posts.bind(number, at: index + 1)
      try media.bind(number, at: index + 1)
    }
    // The rows of both come in the order of the places.
    func nextPlace(_ rows: RowReader) throws -> Int64? { try rows.next() ? rows.integer(0) : nil }
    var mediaPlace = try nextPlace(media)
    while let place = try nextPlace(posts) {
      try flat.appendPost(posts, from: 1, isDetailed: columns.contains(.details))
      while let current = mediaPlace, current <= place {
        if current == place { try addMedia(media, columns, to: &flat) }
        mediaPlace = try nextPlace(media)
      }
    }
  }

  private func addMedia(
    _ row: RowReader, _ columns: PageColumns, to flat: inout FlatPosts
  ) throws {
    let next = try flat.addMedia(row, from: 1, isDetailed: columns.contains(.details))
    guard columns.contains(.truth) else { return }
    let column = Int32(truncatingIfNeeded: next)
    if let truth = MediaTable.truth(row, at: column, variantsAt: column + 1) {
      flat.add(truth: truth)
    }
  }

  private mutating func posts(
    _ size: Int, _ columns: PageColumns, _ database: Database
  ) throws -> Statement {
    if let statement = posts[columns.rawValue][size] { return statement }
    let sql = PostReader.postsByNumber(count: Self.sizes[size], columns)
    let statement = try database.makeStatement(sql: sql)
    posts[columns.rawValue][size] = statement
    return statement
  }

  private mutating func media(
    _ size: Int, _ columns: PageColumns, _ database: Database
  ) throws -> Statement {
    if let statement = media[columns.rawValue][size] { return statement }
    let sql = PostReader.mediaByNumber(count: Self.sizes[size], columns)
    let statement = try database.makeStatement(sql: sql)
    media[columns.rawValue][size] = statement
    return statement
  }

  /// Returns the columns that the database uses.
  private mutating func columns(_ database: Database) throws -> PageColumns {
    let statement = try pageColumns ?? database.makeStatement(sql: PostReader.pageColumns)
    pageColumns = statement
    let row = RowReader(statement)
    defer { row.reset() }
    guard try row.next() else { return [] }
    var columns: PageColumns = []
    if row.integer(0) != 0 { columns.insert(.truth) }
    if row.integer(1) != 0 { columns.insert(.details) }
    return columns
  }
}
