import Catalog
import Feed
import Postgres

/// Windows of orders: each statement begins at its place in the index of the order and ends with its rows.
/// Entries of other rankings that lie between them are stepped over. A window is one round trip.
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
