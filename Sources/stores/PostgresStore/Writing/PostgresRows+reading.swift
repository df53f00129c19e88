import Catalog
import Feed
import Postgres
import RowStore

/// What is read before a group or a batch.
extension PostgresRows {
  func prepare(for writes: [WaitingWrite]) throws {
    var (ids, feeds, keys): ([String], [String], [String]) = ([], [], [])
    for write in writes {
      switch write {
      case .item(let write, _):
        ids.append(write.id)
        if case .put(_, let placements?) = write.change { feeds += placements.map(\.feed) }
        if case .increment(_, let key?) = write.change { keys += [key.storedText, key.text] }
      case .feed(let write, _): feeds.append(write.name)
      }
    }
    let authors = writes.compactMap { write -> Author? in
      guard case .item(let write, _) = write, case .put(let post, _) = write.change else {
        return nil
      }
      return post.author
    }
    try read(posts: ids, feeds: feeds, keys: keys, authors: authors)
  }

  func prepare(for records: [SeedRecord], run: Int64?) throws {
    var (ids, feeds, authors): ([String], Set<ByteText>, [Author]) = ([], [], [])
    for record in records {
      switch record {
      case .feed(let name, _): feeds.insert(ByteText(name))
      case .post(let post, let placements):
        ids.append(post.id)
        for placement in placements { feeds.insert(ByteText(placement.feed)) }
        if let author = post.author { authors.append(author) }
      }
    }
    try read(posts: ids, feeds: feeds.map(\.text), keys: [], authors: authors)
  }

  private static let postsByID = "SELECT post_id FROM post WHERE id = ANY ($1::text[])"
  // Numbers are looked up first: which of two tables is to be gone through is no question then.
  static let entriesByID = """
    SELECT entry_id, feed_id, post_id, sort_key, rank, published_at, since, until, id
    FROM feed_entry WHERE post_id = ANY (ARRAY(\(postsByID)))
    """
  static let placesByID = """
    SELECT run_id, feed_id, post_id, rank FROM pending_place
    WHERE post_id = ANY (ARRAY(\(postsByID)))
    """
  static let feedsOfPosts =
    PostgresCatalogReader.everyFeed + """
       WHERE feed_id = ANY (ARRAY(
        SELECT DISTINCT feed_id FROM feed_entry WHERE post_id = ANY (ARRAY(\(postsByID)))))
      """
  static let feedsByName = PostgresCatalogReader.everyFeed + " WHERE name = ANY ($1::text[])"
  /// As the constraint `author_by_id` has its columns.
  static let authorsByKey = """
    SELECT place, author_id
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
      AS given (id, name, avatar, extra, place)
    JOIN author ON ARRAY[coalesce(author.id, ''), coalesce(author.name, ''),
      coalesce(author.avatar, ''), coalesce(author.extra, '')]
      = ARRAY[given.id, given.name, given.avatar, given.extra]
    """

  private func read(
    posts ids: [String], feeds: [String], keys: [String], authors: [Author]
  ) throws {
    let (ids, authors) = (Parameter.texts(ids), Array(Set(authors)))
    let rows = try connection.run([
      Statement(PostRows.byID, [ids]), Statement(PostRows.mediaByID, [ids]),
      Statement(Self.entriesByID, [ids]), Statement(Self.placesByID, [ids]),
      Statement(Self.feedsOfPosts, [ids]), Statement(Self.feedsByName, [.texts(feeds)]),
      Statement(Self.keysByName, [.texts(keys)]),
      Statement(
        Self.authorsByKey,
        [
          .texts(authors.map { $0.id ?? "" }), .texts(authors.map { $0.name ?? "" }),
          .texts(authors.map { $0.avatar ?? "" }), .texts(authors.map { $0.extra?.json ?? "" }),
        ]),
    ])
    guard case .texts(let names) = ids else { return }
    let found = try note(posts: rows[0], rows[1], rows[2], rows[3], of: names.compactMap { $0 })
    try note(rows[4])
    try note(rows[5])
    try note(keys: rows[6], of: keys)
    for index in 0..<rows[7].count {
      let row = RowValues(rows: rows[7], row: index)
      pending.authors[authors[Int(try row.integer(0)) - 1]] = try row.integer(1)
    }
    let unknownAuthors = authors.filter { pending.authors[$0] == nil }
    try takeNumbers(posts: names.count - found, authors: unknownAuthors)
  }

  /// Notes posts that were read, and that the others are not there.
  ///
  /// - Returns: how many there were.
  @discardableResult
  private func note(
    posts: Rows, _ media: Rows, _ entries: Rows, _ places: Rows, of ids: [String]
  ) throws -> Int {
    for id in ids { pending.posts[ByteText(id)] = .some(nil) }
    let flat = try PostRows.posts(posts, media)
    for index in 0..<flat.count {
      let (number, post) = (flat.posts[index].number, flat.post(at: index))
      pending.posts[ByteText(post.id)] = PendingRows.StoredRow(
        number: number, post: post, author: posts.integer(index, PostRows.authorColumn))
      (pending.entries[number], pending.places[number]) = ([], [])
    }
    for index in 0..<entries.count {
      let row = RowValues(rows: entries, row: index)
      pending.entries[try row.integer(2), default: []].append(
        PendingRows.EntryRow(
          id: try row.integer(0), number: try row.integer(0), feedID: try row.integer(1),
          postID: try row.name(8),
          key: try row.integer(3), rank: row.optional(4).map(Int.init),
          publishedAt: row.optional(5), since: Int(try row.integer(6)),
          until: row.optional(7).map(Int.init)))
    }
    for index in 0..<places.count {
      let row = RowValues(rows: places, row: index)
      let number = try row.integer(2)
      pending.places[number, default: []].append(
        PendingRows.PlaceRow(
          run: try row.integer(0), feedID: try row.integer(1), post: number,
          rank: row.optional(3).map(Int.init)))
    }
    return flat.count
  }

  /// Reads a post that was not announced to `prepare`.
  func read(post id: String) throws {
    let ids = [Parameter.texts([id])]
    try flush()
    let rows = try connection.run([
      Statement(PostRows.byID, ids), Statement(PostRows.mediaByID, ids),
      Statement(Self.entriesByID, ids), Statement(Self.placesByID, ids),
    ])
    try note(posts: rows[0], rows[1], rows[2], rows[3], of: [id])
  }

  static let postNumbers = """
    SELECT nextval((SELECT pg_get_serial_sequence('post', 'post_id')::regclass))
    FROM generate_series(1, $1::int8)
    """
  static let authorNumbers = """
    SELECT nextval((SELECT pg_get_serial_sequence('author', 'author_id')::regclass))
    FROM generate_series(1, $1::int8)
    """

  /// Reserves numbers for `count` new posts, and for these authors.
  func takeNumbers(posts count: Int, authors: [Author]) throws {
    guard count > 0 || !authors.isEmpty else { return }
    let rows = try connection.run([
      Statement(Self.postNumbers, [.integer(Int64(count))]),
      Statement(Self.authorNumbers, [.integer(Int64(authors.count))]),
    ])
    for index in 0..<rows[0].count {
      pending.postNumbers.append(try RowValues(rows: rows[0], row: index).integer(0))
    }
    // Lower numbers first.
    pending.postNumbers.sort(by: >)
    for (index, author) in authors.enumerated() {
      pending.authors[author] = -(try RowValues(rows: rows[1], row: index).integer(0))
    }
  }
}
