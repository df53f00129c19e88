import Feed
import GRDB
import RowStore

extension SQLiteStore {
  /// Checks the file (https://sqlite.org/pragma.html#pragma_integrity_check), the foreign keys, and the
  /// invariants that SQL cannot declare. Each says the first twenty of its findings.
  ///
  /// - Returns: what was found; nothing where all is well.
  /// - Throws: `StoreError`.
  public func check() throws -> [CheckFinding] {
    try withStoreErrors(path: path) {
      try pool.read { try Self.integrityFindings($0) + Self.invariantFindings($0) }
    }
  }

  /// What SQLite itself finds, whatever the schema is.
  static func integrityFindings(_ database: Database) throws -> [CheckFinding] {
    var findings: [CheckFinding] = []
    let integrity = try String.fetchAll(database, sql: "PRAGMA integrity_check(20)")
    findings += integrity.filter { $0 != "ok" }.map {
      CheckFinding(severity: .error, text: "integrity: \($0)")
    }
    for row in try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").prefix(20) {
      let table: String = row[0]
      let parent: String = row[2]
      let number = (row[1] as Int64?).map(String.init) ?? "?"
      findings.append(
        CheckFinding(
          severity: .error,
          text: "foreign key: row \(number) of \(table) has no row of \(parent)"))
    }
    return findings
  }

  /// The broken invariants of a database that is up to date.
  static func invariantFindings(_ database: Database) throws -> [CheckFinding] {
    let areIndexesMissing = try LateIndexes.areMissing(database)
    let findings = try invariants.flatMap { invariant in
      // Without the index that would be to read all posts for each author.
      if areIndexesMissing, invariant.name == everyAuthorHasAPost { return [CheckFinding]() }
      return try String.fetchAll(database, sql: invariant.sql + " LIMIT 20").map {
        CheckFinding(severity: invariant.severity, text: "\(invariant.name): \($0)")
      }
    }
    return try findings
      + MediaTable(database).problems(limit: 20).map {
        CheckFinding(severity: .error, text: "what is known of media files can be read: \($0)")
      }
  }

  struct Invariant {
    let name: String
    var severity = CheckFinding.Severity.error
    /// Selects a text for each row that breaks it.
    let sql: String
  }

  private static let everyAuthorHasAPost = "every author has a post"

  static let invariants = [
    Invariant(
      name: """
        a first load is unfinished; if no seed is at work, the next server or seed makes what is missing
        """,
      severity: .note, sql: LateIndexes.missing),
    Invariant(
      name: "an entry repeats its post's id and time",
      sql: """
        SELECT 'entry ' || entry_id FROM feed_entry JOIN post USING (post_id)
        WHERE feed_entry.id <> post.id
          OR (feed_entry.until IS NULL AND feed_entry.published_at IS NOT post.published_at)
        """),
    Invariant(
      name: "an entry's sort key follows from its rank or time",
      sql: """
        SELECT 'entry ' || entry_id FROM feed_entry WHERE until IS NULL AND sort_key <>
          coalesce(rank, (1 << 62) - published_at, 9223372036854775807)
          AND NOT (rank IS NULL AND EXISTS (SELECT 1 FROM pending_place
            WHERE pending_place.post_id = feed_entry.post_id
              AND pending_place.feed_id = feed_entry.feed_id))
        """),
    // Each entry is held against the one before it alone: a post that was moved a thousand times has a
    // million pairs.
    Invariant(
      name: "a post is in a ranking once",
      sql: """
        SELECT 'post ' || id || ' in feed ' || feed_id FROM (
          SELECT id, feed_id, since,
            lag(since) OVER places AS before, lag(until) OVER places AS ended
          FROM feed_entry WINDOW places AS (PARTITION BY post_id, feed_id ORDER BY since))
        WHERE before IS NOT NULL AND (ended IS NULL OR ended > since)
        """),
    Invariant(
      name: "no entry lies beyond the current ranking",
      sql: """
        SELECT 'entry ' || entry_id FROM feed_entry JOIN feed USING (feed_id)
        WHERE since > ranking OR until > ranking
        """),
    Invariant(
      name: "tags and counters are JSON",
      sql: """
        SELECT 'post ' || id FROM post
        WHERE (tags IS NOT NULL AND (NOT json_valid(tags) OR json_type(tags) <> 'array'))
          OR (counters IS NOT NULL AND (NOT json_valid(counters) OR json_type(counters) <> 'object'))
        """),
    Invariant(
      name: "counters are whole numbers of 64 bits",
      sql: """
        SELECT 'post ' || post.id FROM post, json_each(post.counters)
        WHERE json_valid(counters) AND typeof(json_each.value) <> 'integer'
        """),
    Invariant(
      name: "a ranking has a number that JSON can tell",
      sql: """
        SELECT 'feed ' || name FROM feed WHERE ranking > \(RankingNumber.largest)
        UNION ALL SELECT 'the least of new feeds' FROM ranking_floor
          WHERE ranking > \(RankingNumber.largest)
        """),
    Invariant(
      name: "an idempotency key's answer is JSON",
      sql: """
        SELECT 'key ' || key FROM idempotency_key
        WHERE counters IS NOT NULL
          AND (NOT json_valid(counters) OR json_type(counters) <> 'object')
        """),
    Invariant(
      name: everyAuthorHasAPost,
      sql: """
        SELECT 'author ' || coalesce(id, name, author_id) FROM author
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
        SELECT name FROM feed WHERE EXISTS (SELECT 1 FROM ranking_run CROSS JOIN pending_place
          ON pending_place.run_id = ranking_run.run_id AND pending_place.feed_id = feed.feed_id)
        """),
  ]
}
