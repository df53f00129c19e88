import Feed

/// An invariant of a store's rows that a schema cannot declare; `check` checks it.
package struct StoreInvariant: Sendable {
  /// The rule, in one line.
  package let name: String
  /// The severity of a broken rule.
  package let severity: CheckFinding.Severity
  /// Selects a text for each row that breaks the rule.
  package let sql: String

  /// Creates an invariant of one kind of database.
  package init(_ name: String, severity: CheckFinding.Severity = .error, sql: String) {
    (self.name, self.severity, self.sql) = (name, severity, sql)
  }

  /// The maximum number of findings reported for each invariant.
  package static let findingLimit = 20

  /// Returns the first findings.
  ///
  /// - Parameter texts: returns what a statement selects.
  package func findings(_ texts: (_ sql: String) throws -> [String]) rethrows -> [CheckFinding] {
    try texts("\(sql) LIMIT \(Self.findingLimit)").map {
      CheckFinding(
        severity: severity,
        text: "\(severity == .error ? "broken rule: " : "")\(name): \($0)")
    }
  }
}

// MARK: With the same SQL for every database

extension StoreInvariant {
  /// The invariants whose SQL is the same for every database.
  package static let common = [
    StoreInvariant(
      "an entry's sort key follows from its rank or time",
      sql: """
        SELECT 'entry ' || entry_id FROM feed_entry WHERE until IS NULL AND sort_key <>
          coalesce(rank, 4611686018427387904 - published_at, 9223372036854775807)
          AND NOT (rank IS NULL AND EXISTS (SELECT 1 FROM pending_place
            WHERE pending_place.post_id = feed_entry.post_id
              AND pending_place.feed_id = feed_entry.feed_id))
        """),
    // Each entry is compared only with the one before it: a post that was moved a thousand times has a
    // million pairs.
    StoreInvariant(
      "a post is in a ranking at most once",
      sql: """
        SELECT 'post ' || id || ' in feed ' || feed_id FROM (
          SELECT id, feed_id, since,
            lag(since) OVER places AS before, lag(until) OVER places AS ended
          FROM feed_entry WINDOW places AS (PARTITION BY post_id, feed_id ORDER BY since)) AS entry
        WHERE before IS NOT NULL AND (ended IS NULL OR ended > since)
        """),
    StoreInvariant(
      "no entry is after the current ranking",
      sql: """
        SELECT 'entry ' || entry_id FROM feed_entry JOIN feed USING (feed_id)
        WHERE since > ranking OR until > ranking
        """),
    StoreInvariant(
      "a post that is not visible is in no feed",
      sql: """
        SELECT 'post ' || post_id FROM scheduled_place WHERE EXISTS (SELECT 1 FROM feed_entry
          WHERE feed_entry.post_id = scheduled_place.post_id AND until IS NULL)
        """),
    StoreInvariant(
      "the number of a ranking can be represented in JSON",
      sql: """
        SELECT 'feed ' || name FROM feed WHERE ranking > \(RankingNumber.largest)
        UNION ALL SELECT 'the least of new feeds' FROM ranking_floor
          WHERE ranking > \(RankingNumber.largest)
        """),
    StoreInvariant(
      "one network is the default",
      sql: """
        SELECT 'none is' WHERE NOT EXISTS (SELECT 1 FROM network_profile WHERE is_default = 1)
        """),
    StoreInvariant(
      "a policy has a known strategy",
      sql: """
        SELECT coalesce('feed ' || feed, 'all feeds') || ', network ' || network || ', strategy '
          || strategy || ': ' || problem FROM policy_problem
        """),
    StoreInvariant(
      "every network has a policy for all feeds",
      sql: """
        SELECT name FROM network_profile WHERE NOT EXISTS
          (SELECT 1 FROM policy WHERE policy.network = network_profile.name AND feed IS NULL)
        """),
    everyAuthorHasAPost,
    rowsAreOfKeptRankings,
    namesAreSegments,
    urlsAreAbsolute,
  ]

  private static let namesAreSegments = StoreInvariant(
    "clients cannot request this because its name means a folder in a URL; rename it",
    severity: .note,
    sql: """
      SELECT 'item ' || id FROM post WHERE id IN ('.', '..')
      UNION ALL SELECT 'feed ' || name FROM feed WHERE name IN ('.', '..')
      """)

  /// Each URL begins with a scheme or a single slash. Only its slash and colon are checked.
  private static let urlsAreAbsolute = StoreInvariant(
    "a URL is relative, so clients look for it below the feed's page; seed or PUT its item again with a path or URL",
    severity: .note,
    sql: """
      SELECT 'item ' || id || ': ' || relative FROM (
        SELECT post_id, url AS relative FROM media
        UNION ALL SELECT post_id, poster FROM media
        UNION ALL SELECT post_id, thumbnail FROM post
        UNION ALL SELECT post_id, url FROM post) AS urls JOIN post USING (post_id)
      WHERE relative NOT LIKE '/%' AND relative NOT LIKE '%:%'
      """)

  private static let rowsAreOfKeptRankings = StoreInvariant(
    """
    rows of rankings that are no longer kept exist; `lookahead prune --kept-rankings` deletes them
    """,
    severity: .note,
    sql: """
      SELECT 'feed ' || name || ': ' || rows FROM (
        SELECT name, (SELECT count(*) FROM feed_entry
          WHERE feed_entry.feed_id = feed.feed_id AND until <= oldest_ranking) AS rows
        FROM feed) AS counted
      WHERE rows > 0
      """)

  /// Reads all authors, and an index of posts.
  package static let everyAuthorHasAPost = StoreInvariant(
    "every author has a post",
    sql: """
      SELECT 'author ' || coalesce(id, name, CAST(author_id AS text)) FROM author
      WHERE NOT EXISTS (SELECT 1 FROM post WHERE post.author_id = author.author_id)
      """)

  /// - Parameter isOther: the operator that is true for one NULL and false for two.
  package static func entryRepeatsPost(isOther: String) -> StoreInvariant {
    StoreInvariant(
      "an entry repeats its post's id and time",
      sql: """
        SELECT 'entry ' || entry_id FROM feed_entry JOIN post USING (post_id)
        WHERE feed_entry.id <> post.id
          OR (feed_entry.until IS NULL AND feed_entry.published_at \(isOther) post.published_at)
        """)
  }

  /// - Parameter places: selects 1 for the feed `feed.feed_id` if a run has a pending place in it.
  package static func rankingIsFinished(places: String) -> StoreInvariant {
    StoreInvariant(
      "a re-ranking is unfinished; if no seed is at work, seed the same input again to finish it",
      severity: .note, sql: "SELECT name FROM feed WHERE EXISTS (\(places))")
  }
}

/// A finding of a check of the database.
package struct CheckFinding: Hashable, Sendable {
  /// Whether something is wrong, or only unfinished.
  package enum Severity: String, Sendable {
    case error, note
  }

  /// The severity of the finding.
  package let severity: Severity
  /// The broken rule and the row that breaks it, in one line for a person.
  package let text: String

  package init(severity: Severity, text: String) {
    self.severity = severity
    self.text = text
  }
}

/// A column with packed bytes, which the database itself cannot check.
package struct PackedColumn: Sendable {
  /// Selects the name and the bytes of each row.
  package let sql: String
  private let look: @Sendable (UnsafeBufferPointer<UInt8>) throws(PackedError) -> String?

  /// The content of the rows, for the finding.
  private let content: String

  private init(
    _ content: String = "the facts about media files", sql: String,
    look: @escaping @Sendable (UnsafeBufferPointer<UInt8>) throws(PackedError) -> String?
  ) {
    (self.content, self.sql, self.look) = (content, sql, look)
  }

  /// The columns with the facts about media files, and with reports.
  package static let all = [
    PackedColumn("the reports", sql: "SELECT 'hour ' || hour, figures FROM report_cell") {
      bytes throws(PackedError) in
      _ = try PackedReport.cell(Array(bytes))
      return nil
    },
    PackedColumn(
      "the watch times of clips", sql: "SELECT kind || ' ' || name, figures FROM report_watch"
    ) { bytes throws(PackedError) in
      _ = try PackedReport.record(Array(bytes), hour: 0)
      return nil
    },
    PackedColumn(sql: "SELECT version, truth FROM media_truth") { bytes throws(PackedError) in
      try PackedTruth.truth(in: bytes).problem.map { field, words in "\(field) \(words)" }
    },
    PackedColumn(sql: "SELECT url, variants FROM media_file WHERE variants IS NOT NULL") {
      bytes throws(PackedError) in
      MediaVariant.problem(try PackedTruth.variants(in: bytes)).map { "its variants \($0)" }
    },
  ]

  /// Returns the finding for a row whose bytes cannot be read or hold impossible values; nil if all is well.
  package func finding(_ name: String, _ bytes: UnsafeBufferPointer<UInt8>?) -> CheckFinding? {
    let problem: String?
    do throws(PackedError) {
      problem = try look(bytes ?? UnsafeBufferPointer(start: nil, count: 0))
    } catch {
      problem = "\(error)"
    }
    return problem.map {
      CheckFinding(
        severity: .error, text: "\(content) can be read: \(name): \($0)")
    }
  }
}
