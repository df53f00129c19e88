import Catalog
import Feed
import Postgres
import Prefetch
import RowStore

/// Reads the contents of catalogs, and changes to them, within one snapshot of the database.
struct PostgresCatalogReader: CatalogReader {
  let connection: Connection

  /// What was committed at a moment: every transaction below `xmin`, and those below `xmax` that were not
  /// running (https://www.postgresql.org/docs/15/functions-info.html#FUNCTIONS-PG-SNAPSHOT).
  struct Mark: CatalogMark {
    /// The history of the server. A promoted server may have lost what the previous primary had, and given
    /// its numbers to other data.
    let history: ServerHistory
    /// `nil` on a standby, which cannot tell which transactions were running.
    let snapshot: String?
    let nextDue: Timestamp?
  }

  static let currentMoment = """
    SELECT \(ServerPosition.columns), pg_current_snapshot()::text, (\(PostgresStore.nextDue))
    """

  func mark() throws -> Mark { try Self.moment(connection).mark }

  /// Returns what the connection's statements see, and the position that the server had at least reached then.
  static func moment(_ connection: Connection) throws -> (mark: Mark, position: ServerPosition) {
    let rows = try connection.run(currentMoment)
    let position = try ServerPosition(rows)
    let snapshot = try RowValues(rows: rows, row: 0).name(ServerPosition.columnCount)
    let mark = Mark(
      history: position.history, snapshot: position.isStandby ? nil : snapshot,
      nextDue: rows.integer(0, ServerPosition.columnCount + 1).map(Timestamp.init(microseconds:)))
    return (mark, position)
  }

  // MARK: Feeds

  static let everyFeed = "SELECT feed_id, name, title, ranking, oldest_ranking FROM feed"
  static let oneFeed = everyFeed + " WHERE feed_id = $1::int8"

  func feeds() throws -> [FeedState] { try Self.feeds(try connection.run(Self.everyFeed)) }

  func feed(_ id: Int64) throws -> FeedState? {
    try Self.feeds(try connection.run(Self.oneFeed, [.integer(id)])).first
  }

  static func feeds(_ rows: Rows) throws -> [FeedState] {
    try (0..<rows.count).map { index in
      let row = RowValues(rows: rows, row: index)
      return FeedState(
        id: try row.integer(0), name: try row.name(1), title: row.string(2),
        ranking: try RankingNumber.checked(row.integer(3)), oldestRanking: Int(try row.integer(4)))
    }
  }

  // MARK: Orders

  /// The number of rows that are in memory at once, in addition to the order that is made of them.
  private static let portion = 5_000

  func order(ofFeed id: Int64, ranking: Int) throws -> OrderIndex {
    try order(ofFeed: id, ranking: ranking, limit: nil)
  }

  /// Returns the feed's order in one ranking, at most its first `limit` entries.
  private func order(ofFeed id: Int64, ranking: Int, limit: Int?) throws -> OrderIndex {
    // The query of a cursor takes no parameters; the values are numbers.
    try connection.run(
      script: """
        DECLARE feed_order NO SCROLL CURSOR FOR
        SELECT sort_key, id, post_id, published_at FROM feed_entry
        WHERE feed_id = \(id) AND since <= \(ranking) AND (until IS NULL OR until > \(ranking))
        ORDER BY sort_key, id \(limit.map { "LIMIT \($0)" } ?? "")
        """)
    var builder = OrderIndex.Builder()
    while true {
      let rows = try connection.run("FETCH \(Self.portion) FROM feed_order")
      for index in 0..<rows.count {
        let row = RowValues(rows: rows, row: index)
        guard let id = row.text(1) else { continue }
        builder.append(
          key: SortKey(rawValue: try row.integer(0)), id: id, post: try row.integer(2),
          publishedAt: row.optional(3).map(Timestamp.init(microseconds:)))
      }
      if rows.count < Self.portion { break }
    }
    try connection.run(script: "CLOSE feed_order")
    return builder.index()
  }

  static let entryCount = """
    SELECT count(*) FROM feed_entry
    WHERE feed_id = $1::int8 AND since <= $2::int8 AND (until IS NULL OR until > $2::int8)
    """

  func top(of feed: FeedState, count: Int) throws -> OrderIndex {
    let top = try order(ofFeed: feed.id, ranking: feed.ranking, limit: count)
    let total = try connection.run(
      Self.entryCount, [.integer(feed.id), .integer(feed.ranking)])
    return OrderIndex(top: top, count: Int(total.integer(0, 0) ?? 0))
  }

  static let oldestRankingOfFeed = "SELECT oldest_ranking FROM feed WHERE feed_id = $1::int8"

  func oldestRanking(ofFeed id: Int64) throws -> Int? {
    let rows = try connection.run(Self.oldestRankingOfFeed, [.integer(id)])
    return rows.count == 0 ? nil : rows.integer(0, 0).map(Int.init)
  }

  static let placeOfPost = """
    SELECT feed_entry.sort_key FROM post JOIN feed_entry USING (post_id)
    WHERE post.id = $1::text AND feed_entry.feed_id = $2::int8 AND since <= $3::int8
      AND (until IS NULL OR until > $3::int8)
    """

  func position(ofItem id: String, inFeed feedID: Int64, ranking: Int) throws -> Position? {
    let rows = try connection.run(
      Self.placeOfPost, [.text(id), .integer(feedID), .integer(ranking)])
    guard rows.count > 0, let key = rows.integer(0, 0) else { return nil }
    return Position(key: SortKey(rawValue: key), id: id)
  }
}

/// The changes that were committed between two moments.
///
/// Rows get their numbers before they are committed: a reader that goes by the greatest number that it has
/// seen would lose those that are committed later. So each row of the change log, and each new entry, has
/// the number of its transaction, and the queries select what the old snapshot does not show: from its
/// oldest running transaction on, by an index, everything that was not committed then. The new snapshot
/// does not show what runs now, either; that comes with a later one. Nothing waits for a long transaction;
/// as long as it runs, some rows after it are read again.
extension PostgresCatalogReader {
  static let isKnown = """
    SELECT pg_snapshot_xmax($1::text::pg_snapshot) <= pg_snapshot_xmax($2::text::pg_snapshot)
      AND NOT EXISTS (SELECT 1 FROM change_log_floor
        WHERE transaction >= pg_snapshot_xmin($1::text::pg_snapshot))
    """

  private static let isUnseen = """
    transaction >= pg_snapshot_xmin($1::text::pg_snapshot)
      AND NOT pg_visible_in_snapshot(transaction, $1::text::pg_snapshot)
    """

  static let changesAfter = """
    SELECT sort_key, id, post_id, published_at, since, until, feed_id, new_since, new_until, kind
    FROM change_log WHERE \(isUnseen) ORDER BY change_id
    """

  static let entriesAfter = """
    SELECT sort_key, id, post_id, published_at, since, until, feed_id
    FROM feed_entry WHERE \(isUnseen) ORDER BY entry_id
    """

  func changes(from old: Mark, to new: Mark) throws -> StoreChanges? {
    guard old.history == new.history, let before = old.snapshot, let now = new.snapshot else {
      return nil
    }
    let snapshot = [Parameter.text(before)]
    let answers = try connection.run([
      Statement(Self.isKnown, snapshot + [.text(now)]),
      Statement(Self.changesAfter, snapshot), Statement(Self.entriesAfter, snapshot),
    ])
    guard answers[0].boolean(0, 0) else { return nil }
    var changes = StoreChanges()
    for index in 0..<answers[1].count {
      try changes.add(logged: RowValues(rows: answers[1], row: index))
    }
    for index in 0..<answers[2].count {
      let row = RowValues(rows: answers[2], row: index)
      changes.entries.append(
        EntryChange(
          feedID: try row.integer(6), entry: try row.entry(), old: nil,
          new: row.rankings(since: 4, until: 5)))
    }
    return changes
  }
}

extension StoreChanges {
  /// Adds a row of the change log.
  fileprivate mutating func add(logged row: RowValues) throws {
    switch try row.name(9) {
    case "entry":
      entries.append(
        EntryChange(
          feedID: try row.integer(6), entry: try row.entry(),
          old: row.rankings(since: 4, until: 5), new: row.rankings(since: 7, until: 8)))
    case "feed": feeds.insert(try row.integer(6))
    case "post": posts.insert(try row.integer(2))
    default: areSettings = true
    }
  }
}

extension RowValues {
  /// Returns the entry in the columns sort_key, id, post_id, published_at.
  func entry() throws -> OrderEntry {
    OrderEntry(
      position: try position(0), post: try integer(2),
      publishedAt: optional(3).map(Timestamp.init(microseconds:)))
  }

  /// Returns the position in this column, a sort_key, and in the next one, an id.
  func position(_ column: Int) throws -> Position {
    Position(key: SortKey(rawValue: try integer(column)), id: try name(column + 1))
  }

  /// Returns the rankings in these columns; `nil` if the columns are NULL.
  fileprivate func rankings(since: Int, until: Int) -> RankingInterval? {
    optional(since).map { RankingInterval(since: Int($0), until: optional(until).map(Int.init)) }
  }
}

extension PostgresCatalogReader {
  static let networks = """
    SELECT name, title, downlink_kbps, uplink_kbps, round_trip_ms, loss_percent, effective_type,
      is_default
    FROM network_profile ORDER BY name
    """
  static let policies =
    "SELECT feed, network, \(PolicyColumns.all.map { "\"\($0)\"" }.joined(separator: ", ")) FROM policy"

  /// - Throws: `PolicyError` for the first policy whose strategy this program does not know.
  func policyBook() throws -> PolicyBook {
    let rows = try connection.run([
      Statement(Self.networks), Statement(Self.policies), Statement(AppliedPolicies.evidence),
      Statement(ExperimentText.running),
    ])
    let networks = try (0..<rows[0].count).map { index in
      let row = RowValues(rows: rows[0], row: index)
      return NetworkProfile(
        name: try row.name(0), title: try row.name(1), downlinkKbps: Int(try row.integer(2)),
        uplinkKbps: Int(try row.integer(3)), roundTripMilliseconds: Int(try row.integer(4)),
        lossPercent: Int(try row.integer(5)), effectiveType: row.string(6),
        isDefault: try row.integer(7) == 1)
    }
    let policies = try (0..<rows[1].count).map { index in
      let row = RowValues(rows: rows[1], row: index)
      return (
        PolicyBook.Key(feed: row.string(0), network: try row.name(1)), try Self.policy(row)
      )
    }
    return PolicyBook(
      networks: networks, policies: Dictionary(policies, uniquingKeysWith: { _, last in last }),
      evidence: try AppliedPolicies.evidence(rows[2]),
      experiments: try AppliedPolicies.experimentRows(rows[3]).experiments().compactMap(\.running))
  }

  private static func policy(_ row: RowValues) throws -> Policy {
    // The feed and the network are followed by the texts, and these by the numbers.
    func number(_ index: Int) throws -> Int {
      Int(try row.integer(2 + PolicyColumns.texts.count + index))
    }
    return Policy(
      name: try row.name(2),
      strategy: try PolicyColumns.strategy(
        name: row.name(3), parameters: row.name(4), feed: row.string(0), network: row.name(1)),
      trailing: try number(0), imageWeight: try number(1), videoWeight: try number(2),
      webappWeight: try number(3), adWeight: try number(4), textWeight: try number(5),
      carouselVisibleParts: try number(6), videoStartBytes: try number(7),
      videoBytes: try number(8), videoKbps: try number(9), imageBytes: try number(10),
      webappBytes: try number(11), nextPagePercent: try number(12),
      itemsPerMinute: try number(13))
  }
}

/// Windows of orders. Each statement begins at its place in the index of the order, ends with its rows, and
/// skips entries of other rankings in between. A window is one round trip.
extension PostgresCatalogReader {
  private static let isShown = """
    feed_id = $1::int8 AND since <= $2::int8 AND (until IS NULL OR until > $2::int8)
    """
  private static let shown = """
    SELECT sort_key, id, post_id, published_at FROM feed_entry WHERE \(isShown)
    """
  static let windowAtOffset = shown + " ORDER BY sort_key, id LIMIT $3::int8 OFFSET $4::int8"
  static let windowBelow =
    shown + " AND (sort_key, id) > ($3::int8, $4::text) ORDER BY sort_key, id LIMIT $5::int8"
  static let windowFrom =
    shown + " AND (sort_key, id) >= ($3::int8, $4::text) ORDER BY sort_key, id LIMIT $5::int8"
  static let windowAbove =
    shown
    + " AND (sort_key, id) < ($3::int8, $4::text) ORDER BY sort_key DESC, id DESC LIMIT $5::int8"
  /// Counted in the index.
  static let countThrough =
    entryCount + " AND (sort_key, id) <= ($3::int8, $4::text)"
  static let countAbove =
    entryCount + " AND (sort_key, id) < ($3::int8, $4::text)"

  func window(of feed: FeedState, at place: OrderWindow.Place, rows: Int) throws -> OrderWindow {
    let shown: [Parameter] = [.integer(feed.id), .integer(feed.ranking)]
    func at(_ position: Position) -> [Parameter] {
      shown + [.integer(position.key.rawValue), .text(position.id)]
    }
    let limit = Parameter.integer(Int64(rows))
    let common = [
      Statement(Self.entryCount, shown),
      Statement(Self.windowAtOffset, shown + [.integer(Int64(1)), .integer(Int64(0))]),
    ]
    let own: [Statement]
    switch place {
    case .offset(let start):
      own = [Statement(Self.windowAtOffset, shown + [limit, .integer(Int64(start))])]
    case .below(let position):
      own = [
        Statement(Self.windowBelow, at(position) + [limit]),
        Statement(Self.countThrough, at(position)),
      ]
    case .above(let position):
      own = [
        Statement(Self.windowAbove, at(position) + [limit]),
        Statement(Self.countAbove, at(position)),
        Statement(Self.windowFrom, at(position) + [.integer(Int64(1))]),
      ]
    }
    let answers = try connection.run(common + own)
    let count = Int(answers[0].integer(0, 0) ?? 0)
    var entries = try Self.entries(answers[2])
    let offset: Int
    switch place {
    case .offset(let start): offset = min(start, count)
    case .below: offset = Int(answers[3].integer(0, 0) ?? 0)
    case .above:
      offset = Int(answers[3].integer(0, 0) ?? 0) - entries.count
      entries = entries.reversed() + (try Self.entries(answers[4]))
    }
    return OrderWindow(
      first: try Self.entries(answers[1]).first, offset: offset, entries: entries, count: count)
  }

  private static func entries(_ rows: Rows) throws -> [OrderEntry] {
    try (0..<rows.count).map { try RowValues(rows: rows, row: $0).entry() }
  }
}

/// The connection through which the catalog follows the database.
struct PostgresCatalogSource: CatalogSource {
  private let name: String
  /// A pool of one connection, so that a later read never sees an earlier state.
  private let connections: ConnectionPool
  /// The standby, which gets the positions of the primary.
  private let standby: Standby?
  /// The state of the database at the last read.
  private var seen: PostgresCatalogReader.Mark?

  init(name: String, connections: ConnectionPool, standby: Standby?) {
    self.name = name
    self.connections = connections
    self.standby = standby
  }

  mutating func read<Result>(_ body: (PostgresCatalogReader) throws -> Result) throws -> Result {
    try withStoreErrors(name) {
      let (result, moment) = try connections.run { connection in
        try connection.transaction(.reading) {
          let moment = try PostgresCatalogReader.moment(connection)
          return (try body(PostgresCatalogReader(connection: connection)), moment)
        }
      }
      seen = moment.mark
      standby?.note(primary: moment.position)
      return result
    }
  }

  /// Whether the database was written since the last read. The check costs a round trip.
  ///
  /// - Throws: `PostgresStoreError`.
  mutating func mayHaveChanged() throws -> Bool {
    try withStoreErrors(name) {
      try connections.run { try PostgresCatalogReader.moment($0).mark } != seen
    }
  }

  mutating func close() { connections.close() }
}
