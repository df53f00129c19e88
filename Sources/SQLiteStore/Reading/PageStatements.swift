import Feed
import GRDB

/// The statements that read a page's posts, prepared once for a connection.
struct PageStatements {
  /// A statement for each of these numbers of posts; a page takes the next larger one and leaves the
  /// rest of its places empty. What is more than the largest is read in portions.
  private static let sizes = [1, 8, 32, 100]
  private var posts: [Statement?] = sizes.map { _ in nil }
  private var media: [Statement?] = sizes.map { _ in nil }
  private var knownMedia: [Statement?] = sizes.map { _ in nil }
  private var isAnyMediaKnown: Statement?

  /// The posts with these numbers, in this order; the ones that are gone are left out.
  mutating func posts(_ numbers: [Int64], _ database: Database) throws -> FlatPosts {
    // Most posts have less text than this.
    var flat = FlatPosts(reservingPosts: numbers.count, bytes: numbers.count * 512)
    var rest = numbers[...]
    let isAnyKnown = try isAnyMediaKnown(database)
    while !rest.isEmpty {
      try read(
        rest.prefix(Self.sizes[Self.sizes.count - 1]), withTruth: isAnyKnown, into: &flat, database)
      rest = rest.dropFirst(Self.sizes[Self.sizes.count - 1])
    }
    return flat
  }

  private mutating func read(
    _ numbers: ArraySlice<Int64>, withTruth: Bool, into flat: inout FlatPosts,
    _ database: Database
  ) throws {
    let size = Self.sizes.firstIndex { $0 >= numbers.count }!
    let posts = RowReader(try posts(size, database))
    let media = RowReader(try withTruth ? knownMedia(size, database) : media(size, database))
    defer {
      posts.reset()
      media.reset()
    }
    for index in 0..<Self.sizes[size] {
      let number = index < numbers.count ? numbers[numbers.startIndex + index] : nil
      posts.bind(number, at: index + 1)
      media.bind(number, at: index + 1)
    }
    let truthColumn: Int32? = withTruth ? 1 + PostReader.mediaColumnCount : nil
    // Both come in the order of the places.
    var hasMedia = try media.next()
    while try posts.next() {
      let place = posts.integer(0)
      try flat.appendPost(posts, from: 1)
      while hasMedia, media.integer(0) <= place {
        if media.integer(0) == place { try flat.addMedia(media, from: 1, truthColumn: truthColumn) }
        hasMedia = try media.next()
      }
    }
  }

  private mutating func posts(_ size: Int, _ database: Database) throws -> Statement {
    if let statement = posts[size] { return statement }
    let sql = PostReader.postsByNumber(count: Self.sizes[size])
    let statement = try database.makeStatement(sql: sql)
    posts[size] = statement
    return statement
  }

  private mutating func isAnyMediaKnown(_ database: Database) throws -> Bool {
    let statement = try isAnyMediaKnown ?? database.makeStatement(sql: PostReader.isAnyMediaKnown)
    isAnyMediaKnown = statement
    let row = RowReader(statement)
    defer { row.reset() }
    return try row.next() && row.integer(0) != 0
  }

  private mutating func knownMedia(_ size: Int, _ database: Database) throws -> Statement {
    if let statement = knownMedia[size] { return statement }
    let sql = PostReader.knownMediaByNumber(count: Self.sizes[size])
    let statement = try database.makeStatement(sql: sql)
    knownMedia[size] = statement
    return statement
  }

  private mutating func media(_ size: Int, _ database: Database) throws -> Statement {
    if let statement = media[size] { return statement }
    let sql = PostReader.mediaByNumber(count: Self.sizes[size])
    let statement = try database.makeStatement(sql: sql)
    media[size] = statement
    return statement
  }
}
