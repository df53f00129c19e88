import Feed
import Postgres
import RowStore

extension PostgresStore {
  /// Checks the invariants that SQL cannot declare. Each says the first twenty of its findings. Whether the server's
  /// files are whole, `pg_amcheck` and its check sums say.
  ///
  /// - Returns: what was found; nothing where all is well.
  /// - Throws: `PostgresStoreError`.
  public func check() throws -> [CheckFinding] {
    try withStoreErrors(name) {
      let connection = try Connection(address, .init(statementMilliseconds: 0))
      return try connection.transaction(.reading) {
        var findings: [CheckFinding] = []
        for invariant in Self.invariants {
          let rows = try connection.run(invariant.sql + " LIMIT 20")
          findings += (0..<rows.count).compactMap { rows.text($0, 0) }.map {
            CheckFinding(severity: invariant.severity, text: "\(invariant.name): \($0)")
          }
        }
        return try findings
          + MediaRows(connection).problems(limit: 20).map {
            CheckFinding(
              severity: .error, text: "what is known of media files can be read: \($0)")
          }
      }
    }
  }

  struct Invariant {
    let name: String
    var severity = CheckFinding.Severity.error
    /// Selects a text for each row that breaks it.
    let sql: String
  }

  static let invariants = [
    Invariant(
      name: "an entry repeats its post's id and time",
      sql: """
        SELECT 'entry ' || entry_id FROM feed_entry JOIN post USING (post_id)
        WHERE feed_entry.id <> post.id OR (feed_entry.until IS NULL
          AND feed_entry.published_at IS DISTINCT FROM post.published_at)
        """),
    Invariant(
      name: "an entry's sort key follows from its rank or time",
      sql: """
        SELECT 'entry ' || entry_id FROM feed_entry AS post WHERE until IS NULL
          AND sort_key <> \(PostgresRows.key(rank: "rank"))
          AND NOT (rank IS NULL AND EXISTS (SELECT 1 FROM pending_place
            WHERE pending_place.post_id = post.post_id AND pending_place.feed_id = post.feed_id))
        """),
    Invariant(
      name: "a post is in a ranking once",
      sql: """
        SELECT 'post ' || id || ' in feed ' || feed_id FROM (
          SELECT id, feed_id, since,
            lag(since) OVER places AS before, lag(until) OVER places AS ended
          FROM feed_entry WINDOW places AS (PARTITION BY post_id, feed_id ORDER BY since)) AS entry
        WHERE before IS NOT NULL AND (ended IS NULL OR ended > since)
        """),
    Invariant(
      name: "no entry lies beyond the current ranking",
      sql: """
        SELECT 'entry ' || entry_id FROM feed_entry JOIN feed USING (feed_id)
        WHERE since > ranking OR until > ranking
        """),
    Invariant(
      name: "a ranking has a number that JSON can tell",
      sql: """
        SELECT 'feed ' || name FROM feed WHERE ranking > \(RankingNumber.largest)
        UNION ALL SELECT 'the least of new feeds' FROM ranking_floor
          WHERE ranking > \(RankingNumber.largest)
        """),
    Invariant(
      name: "every author has a post",
      sql: """
        SELECT 'author ' || coalesce(id, name, author_id::text) FROM author
        WHERE NOT EXISTS (SELECT 1 FROM post WHERE post.author_id = author.author_id)
        """),
    Invariant(
      name: "a network is the default",
      sql: """
        SELECT 'none is' WHERE NOT EXISTS (SELECT 1 FROM network_profile WHERE is_default = 1)
        """),
    Invariant(
      name: "a policy has a strategy that there is",
      sql: """
        SELECT coalesce('feed ' || feed, 'all feeds') || ', network ' || network || ', strategy '
          || strategy || ': ' || problem FROM policy_problem
        """),
    Invariant(
      name: "every network has a policy for all feeds",
      sql: """
        SELECT name FROM network_profile WHERE NOT EXISTS
          (SELECT 1 FROM policy WHERE policy.network = network_profile.name AND feed IS NULL)
        """),
    Invariant(
      name: """
        a re-ranking is unfinished; if no seed is at work, seed the same input again to finish it
        """,
      severity: .note,
      sql: """
        SELECT name FROM feed WHERE EXISTS
          (SELECT 1 FROM pending_place WHERE pending_place.feed_id = feed.feed_id)
        """),
  ]
}

extension MediaRows {
  /// The rows that cannot be read, or say what cannot be, and why: so many at the most.
  func problems(limit: Int) throws -> [String] {
    try problems("SELECT version, truth FROM media_truth", limit) { bytes throws(PackedError) in
      try PackedTruth.truth(in: bytes).problem.map { field, words in "\(field) \(words)" }
    }
      + problems("SELECT url, variants FROM media_file WHERE variants IS NOT NULL", limit) {
        bytes throws(PackedError) in
        MediaVariant.problem(try PackedTruth.variants(in: bytes)).map { "its variants \($0)" }
      }
  }

  /// - Parameter look: says what is wrong with the second column of a row.
  private func problems(
    _ sql: String, _ limit: Int,
    _ look: (UnsafeBufferPointer<UInt8>) throws(PackedError) -> String?
  ) throws -> [String] {
    try connection.run(script: "DECLARE known NO SCROLL CURSOR FOR \(sql)")
    var problems: [String] = []
    while problems.count < limit {
      let rows = try connection.run("FETCH 1000 FROM known")
      for index in 0..<rows.count where problems.count < limit {
        do throws(PackedError) {
          let bytes = rows.bytes(index, 1) ?? UnsafeBufferPointer(start: nil, count: 0)
          if let problem = try look(bytes) {
            problems.append("\(rows.text(index, 0) ?? ""): \(problem)")
          }
        } catch {
          problems.append("\(rows.text(index, 0) ?? ""): \(error)")
        }
      }
      if rows.count < 1_000 { break }
    }
    try connection.run(script: "CLOSE known")
    return problems
  }
}
