import Feed
import Postgres
import RowStore

/// Writes what is pending: rows before those that refer to them, and deletions before insertions, so that
/// keys are free.
extension PostgresRows {
  func flush() throws {
    try flushFeeds()
    try flushPosts()
    try flushSchedules()
    try flushEntries()
    try flushPlaces()
    try flushLeftAuthors()
    try flushKeys()
  }

  // MARK: Feeds and posts

  static let insertFeeds = """
    INSERT INTO feed (feed_id, name, title, ranking, oldest_ranking)
    SELECT id, name, title, ranking, ranking
    FROM unnest($1::int8[], $2::text[], $3::text[], $4::int8[]) AS given (id, name, title, ranking)
    """

  private func flushFeeds() throws {
    let feeds = pending.newFeeds
    guard !feeds.isEmpty else { return }
    pending.newFeeds = []
    try connection.run(
      Self.insertFeeds,
      [
        .integers(feeds.map(\.id)), .texts(feeds.map(\.name)), .texts(feeds.map(\.title)),
        .integers(feeds.map { Int64($0.ranking) }),
      ])
  }

  static let updatePosts: String = {
    let columns = PostColumns.post
    let lists = columns.enumerated().map { index, column in
      "$\(index + 3)::\(column.kind == .integer ? "int8" : "text")[]"
    }
    return """
      UPDATE post SET author_id = given.author_id,
        \(columns.map { "\($0.name) = given.\($0.name)" }.joined(separator: ", "))
      FROM unnest($1::int8[], $2::int8[], \(lists.joined(separator: ", ")))
        AS given (number, author_id, \(columns.names))
      WHERE post_id = given.number
      """
  }()
  static let logPosts = """
    INSERT INTO change_log (kind, post_id) SELECT 'post', unnest($1::int8[])
    """
  static let updateCounters = """
    UPDATE post SET counters = given.counters
    FROM unnest($1::int8[], $2::text[]) AS given (number, counters) WHERE post_id = given.number
    """

  private func flushPosts() throws {
    if !pending.newAuthors.isEmpty {
      var rows = CopyRows()
      for (number, author) in pending.newAuthors {
        try rows.append([number], PostColumns.author.map { $0.value(author) })
      }
      pending.newAuthors = []
      try connection.copy(rows, into: "author (author_id, \(PostColumns.author.names))")
    }
    var newMedia: [Int64: [Media]] = [:]
    if !pending.newPosts.isEmpty {
      var rows = CopyRows()
      for (number, (post, author)) in pending.newPosts.sorted(by: { $0.key < $1.key }) {
        try rows.append(
          [number, author], [.text(post.id)] + PostColumns.post.map { $0.value(post) })
        newMedia[number] = post.media
      }
      try connection.copy(
        rows,
        into: "post (post_id, author_id, id, \(PostColumns.post.names))")
    }
    var statements: [Statement] = []
    let posts = pending.changedPosts.sorted { $0.key < $1.key }
    if !posts.isEmpty {
      let columns = PostColumns.post.map { column in
        let values = posts.map { column.value($0.value.post) }
        return column.kind == .integer
          ? Parameter.integers(values.map(\.number)) : .texts(values.map(\.string))
      }
      statements.append(
        Statement(
          Self.updatePosts,
          [.integers(posts.map(\.key)), .integers(posts.map(\.value.author))] + columns))
    }
    let counters = pending.changedCounters.sorted { $0.key < $1.key }
    if !counters.isEmpty {
      statements.append(
        Statement(
          Self.updateCounters,
          [
            .integers(counters.map(\.key)), .texts(counters.map { JSONText.text($0.value) }),
          ]))
    }
    if !pending.unplacedPosts.isEmpty {
      statements.append(Statement(Self.logPosts, [.integers(pending.unplacedPosts.map { $0 })]))
      pending.unplacedPosts = []
    }
    try connection.run(statements)
    let reworded = pending.changedWords.sorted().compactMap { number in
      pending.changedPosts[number].map { (number, $0.post) }
    }
    try putWords(of: pending.newPosts.map { ($0.key, $0.value.post) } + reworded)
    pending.changedWords = []
    (pending.newPosts, pending.changedPosts, pending.changedCounters) = ([:], [:], [:])
    try flushMedia(newMedia)
  }

  static let deleteMedia = "DELETE FROM media WHERE post_id = ANY ($1::int8[])"

  private func flushMedia(_ new: [Int64: [Media]]) throws {
    if !pending.changedMedia.isEmpty {
      try connection.run(Self.deleteMedia, [.integers(pending.changedMedia.keys.sorted())])
    }
    var rows = CopyRows()
    for media in [new, pending.changedMedia] {
      for (number, files) in media.sorted(by: { $0.key < $1.key }) {
        for (ordinal, file) in files.enumerated() {
          try rows.append([number, Int64(ordinal)], PostColumns.media.map { $0.value(file) })
        }
      }
    }
    pending.changedMedia = [:]
    try connection.copy(
      rows,
      into: "media (post_id, ordinal, \(PostColumns.media.names))")
  }

  // MARK: Entries

  private static let givenEntries =
    "unnest($1::int8[], $2::int8[], $3::int8[]) AS given (post, feed, since)"
  private static let isGivenEntry = """
    feed_entry.post_id = given.post AND feed_entry.feed_id = given.feed
      AND feed_entry.since = given.since
    """
  static let deleteEntries = """
    DELETE FROM feed_entry USING \(givenEntries) WHERE \(isGivenEntry)
    """
  static let setEnds = """
    UPDATE feed_entry SET until = given.until
    FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[]) AS given (post, feed, since, until)
    WHERE \(isGivenEntry)
    """
  static let setTimes = """
    UPDATE feed_entry SET published_at = given.published_at
    FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS given (post, feed, published_at)
    WHERE feed_entry.post_id = given.post AND feed_entry.feed_id = given.feed
    """
  static let leaveFeeds = """
    DELETE FROM feed_entry USING unnest($1::int8[], $2::int8[]) AS given (post, feed)
    WHERE feed_entry.post_id = given.post AND feed_entry.feed_id = given.feed
    """
  static let leaveRuns = """
    DELETE FROM pending_place USING unnest($1::int8[], $2::int8[]) AS given (post, feed)
    WHERE pending_place.post_id = given.post AND pending_place.feed_id = given.feed
    """

  private func flushEntries() throws {
    var statements: [Statement] = []
    if !pending.departures.isEmpty {
      let key = Self.key(pending.departures)
      statements += [Statement(Self.leaveFeeds, key), Statement(Self.leaveRuns, key)]
      pending.departures = []
    }
    if !pending.goneEntries.isEmpty {
      statements.append(Statement(Self.deleteEntries, Self.key(pending.goneEntries)))
      pending.goneEntries = []
    }
    if !pending.ends.isEmpty {
      let ends = pending.ends.sorted { ($0.key.post, $0.key.feedID) < ($1.key.post, $1.key.feedID) }
      statements.append(
        Statement(
          Self.setEnds,
          Self.key(ends.map(\.key)) + [.integers(ends.map { $0.value.map(Int64.init) })]))
      pending.ends = [:]
    }
    if !pending.times.isEmpty {
      let times = pending.times.sorted {
        ($0.key.post, $0.key.feedID) < ($1.key.post, $1.key.feedID)
      }
      statements.append(
        Statement(Self.setTimes, Self.key(times.map(\.key)) + [.integers(times.map(\.value))]))
      pending.times = [:]
    }
    try connection.run(statements)
    try insert(pending.takeNewEntries())
  }

  private static func key(_ entries: [StoredEntry.Key]) -> [Parameter] {
    [
      .integers(entries.map(\.post)), .integers(entries.map(\.feedID)),
      .integers(entries.map { Int64($0.since) }),
    ]
  }

  private static func key(_ places: [PendingRows.PostInFeed]) -> [Parameter] {
    [.integers(places.map(\.post)), .integers(places.map(\.feedID))]
  }

  private func insert(_ entries: [StoredEntry]) throws {
    var rows = CopyRows()
    for entry in entries {
      rows.beginRow(columns: 8)
      try rows.append(entry.feedID)
      try rows.append(entry.key.post)
      try rows.append(entry.position.key.rawValue)
      try rows.append(entry.position.id)
      try rows.append(entry.publishedAt)
      try rows.append(entry.rank)
      try rows.append(entry.key.since)
      try rows.append(entry.until)
    }
    try connection.copy(
      rows,
      into: "feed_entry (feed_id, post_id, sort_key, id, published_at, rank, since, until)")
  }

  // MARK: Runs

  static let deletePlaces = """
    DELETE FROM pending_place USING unnest($1::int8[], $2::int8[]) AS given (post, feed)
    WHERE run_id = $3::int8 AND feed_id = given.feed AND post_id = given.post
    """
  static let putPlaces = """
    INSERT INTO pending_place (run_id, feed_id, post_id, rank)
    SELECT $4::int8, feed, post, rank
    FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS given (post, feed, rank)
    ON CONFLICT (run_id, feed_id, post_id) DO UPDATE SET rank = excluded.rank
    """

  private func flushPlaces() throws {
    guard let run = placesOfRun, !pending.places.isEmpty else { return }
    let gone = pending.places.filter { $0.value == nil }.map(\.key)
    let kept = pending.places.compactMap { key, place in place.map { (key, $0.rank) } }
      .sorted { ($0.0.post, $0.0.feedID) < ($1.0.post, $1.0.feedID) }
    pending.places = [:]
    var statements: [Statement] = []
    if !gone.isEmpty {
      statements.append(Statement(Self.deletePlaces, Self.key(gone) + [.integer(run)]))
    }
    if !kept.isEmpty {
      statements.append(
        Statement(
          Self.putPlaces,
          Self.key(kept.map(\.0))
            + [.integers(kept.map { $0.1.map(Int64.init) }), .integer(run)]))
    }
    try connection.run(statements)
  }

  // MARK: The rest

  static let deleteAuthors = """
    DELETE FROM author WHERE author_id = ANY ($1::int8[])
      AND NOT EXISTS (SELECT 1 FROM post WHERE post.author_id = author.author_id)
    """

  private func flushLeftAuthors() throws {
    guard !pending.leftAuthors.isEmpty else { return }
    let left = pending.leftAuthors
    try connection.run(Self.deleteAuthors, [.integers(left.sorted())])
    pending.leftAuthors = []
    pending.authors = pending.authors.filter { !left.contains($0.value) }
  }

  static let deleteKeys = """
    DELETE FROM idempotency_key USING unnest($1::text[]) AS given (name) WHERE key = given.name
    """
  static let insertKeys = """
    INSERT INTO idempotency_key (key, fingerprint, counters, created_at)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[])
    """

  private func flushKeys() throws {
    let keys = pending.newKeys
    guard !keys.isEmpty else { return }
    // Replaces the same keys if they have expired, under new numbers.
    try connection.run([
      Statement(Self.deleteKeys, [.texts(keys.map(\.key))]),
      Statement(
        Self.insertKeys,
        [
          .texts(keys.map(\.key)), .texts(keys.map(\.fingerprint)), .texts(keys.map(\.counters)),
          .integers(keys.map(\.createdAt)),
        ]),
    ])
    pending.newKeys = []
  }
}

extension CopyRows {
  /// Adds a row of numbers and column values.
  fileprivate mutating func append(
    _ numbers: [Int64?], _ values: [ColumnValue]
  ) throws(PostgresError) {
    beginRow(columns: Int16(numbers.count + values.count))
    for number in numbers { try append(number) }
    for value in values {
      switch value {
      case .text(let text): try append(text)
      case .integer(let number): try append(number)
      }
    }
  }
}

extension ColumnValue {
  fileprivate var string: String? { if case .text(let text) = self { text } else { nil } }
  fileprivate var number: Int64? { if case .integer(let number) = self { number } else { nil } }
}
