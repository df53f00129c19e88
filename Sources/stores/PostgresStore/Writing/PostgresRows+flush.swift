import Feed
import Postgres
import RowStore

/// Writes what is pending: deletions first, so that keys are free; then the rows that others refer to.
extension PostgresRows {
  func flush() throws {
    try flushPosts()
    try flushMedia()
    try flushEntries()
    try flushPlaces()
    try flushLeftAuthors()
    try flushKeys()
  }

  // MARK: Posts

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
    if !pending.newPosts.isEmpty {
      var rows = CopyRows()
      for (number, (post, author)) in pending.newPosts.sorted(by: { $0.key < $1.key }) {
        try rows.append(
          [number, author], [.text(post.id)] + PostColumns.post.map { $0.value(post) })
        pending.newMedia[number] = post.media
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
    try connection.run(statements)
    (pending.newPosts, pending.changedPosts, pending.changedCounters) = ([:], [:], [:])
  }

  static let deleteMedia = "DELETE FROM media WHERE post_id = ANY ($1::int8[])"

  private func flushMedia() throws {
    if !pending.changedMedia.isEmpty {
      try connection.run(Self.deleteMedia, [.integers(pending.changedMedia.keys.sorted())])
    }
    var rows = CopyRows()
    for media in [pending.newMedia, pending.changedMedia] {
      for (number, files) in media.sorted(by: { $0.key < $1.key }) {
        for (ordinal, file) in files.enumerated() {
          try rows.append([number, Int64(ordinal)], PostColumns.media.map { $0.value(file) })
        }
      }
    }
    (pending.newMedia, pending.changedMedia) = ([:], [:])
    try connection.copy(
      rows,
      into: "media (post_id, ordinal, \(PostColumns.media.names))")
  }

  // MARK: Entries

  static let deleteEntries = "DELETE FROM feed_entry WHERE entry_id = ANY ($1::int8[])"
  static let updateEntries = """
    UPDATE feed_entry SET until = given.until, published_at = given.published_at
    FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS given (number, until, published_at)
    WHERE entry_id = given.number
    """

  static let entryNumbers = """
    SELECT nextval((SELECT pg_get_serial_sequence('feed_entry', 'entry_id')::regclass))
    FROM generate_series(1, $1::int8)
    """

  private func flushEntries() throws {
    var (new, changed): ([(post: Int64, index: Int)], [PendingRows.EntryRow]) = ([], [])
    for (post, entries) in pending.entries {
      for (index, entry) in entries.enumerated() {
        if entry.number == nil {
          new.append((post, index))
        } else if entry.isChanged {
          changed.append(entry)
          pending.entries[post]![index].isChanged = false
        }
      }
    }
    var statements: [Statement] = []
    if !pending.goneEntries.isEmpty {
      statements.append(Statement(Self.deleteEntries, [.integers(pending.goneEntries.map { $0 })]))
      pending.goneEntries = []
    }
    if !changed.isEmpty {
      changed.sort { $0.id < $1.id }
      statements.append(
        Statement(
          Self.updateEntries,
          [
            .integers(changed.map(\.number)), .integers(changed.map { $0.until.map(Int64.init) }),
            .integers(changed.map(\.publishedAt)),
          ]))
    }
    if !new.isEmpty {
      statements.append(Statement(Self.entryNumbers, [.integer(Int64(new.count))]))
    }
    let answers = try connection.run(statements)
    if !new.isEmpty, let numbers = answers.last { try insert(new, numbers) }
  }

  private func insert(_ new: [(post: Int64, index: Int)], _ numbers: Rows) throws {
    // In the order in which they came.
    let inOrder = new.sorted {
      pending.entries[$0.post]![$0.index].id > pending.entries[$1.post]![$1.index].id
    }
    var rows = CopyRows()
    for (place, (post, index)) in inOrder.enumerated() {
      let number = try RowValues(rows: numbers, row: place).integer(0)
      pending.entries[post]![index].number = number
      pending.entries[post]![index].isChanged = false
      let entry = pending.entries[post]![index]
      rows.beginRow(columns: 9)
      try rows.append(number)
      try rows.append(entry.feedID)
      try rows.append(post)
      try rows.append(entry.key)
      try rows.append(entry.postID)
      try rows.append(entry.publishedAt)
      try rows.append(entry.rank)
      try rows.append(entry.since)
      try rows.append(entry.until)
    }
    try connection.copy(
      rows,
      into: """
        feed_entry (entry_id, feed_id, post_id, sort_key, id, published_at, rank, since, until)
        """)
  }

  // MARK: Runs

  static let deletePlaces = """
    DELETE FROM pending_place USING unnest($1::int8[], $2::int8[], $3::int8[])
      AS given (run, feed, post)
    WHERE run_id = given.run AND feed_id = given.feed AND post_id = given.post
    """
  static let putPlaces = """
    INSERT INTO pending_place (run_id, feed_id, post_id, rank)
    SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[])
    ON CONFLICT (run_id, feed_id, post_id) DO UPDATE SET rank = excluded.rank
    """

  private func flushPlaces() throws {
    var statements: [Statement] = []
    func key(_ places: [PendingRows.PlaceRow]) -> [Parameter] {
      [
        .integers(places.map(\.run)), .integers(places.map(\.feedID)),
        .integers(places.map(\.post)),
      ]
    }
    if !pending.gonePlaces.isEmpty {
      statements.append(Statement(Self.deletePlaces, key(pending.gonePlaces)))
    }
    let changed = pending.places.values.joined().filter(\.isChanged)
    if !changed.isEmpty {
      statements.append(
        Statement(
          Self.putPlaces, key(changed) + [.integers(changed.map { $0.rank.map(Int64.init) })]))
    }
    try connection.run(statements)
    pending.gonePlaces = []
    for place in changed {
      guard
        let index = pending.places[place.post]?.firstIndex(where: {
          $0.run == place.run && $0.feedID == place.feedID
        })
      else { continue }
      pending.places[place.post]![index].isChanged = false
    }
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
    // In place of the same keys where they have expired, under new numbers.
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
  /// Adds a row of numbers and of the values of columns.
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
