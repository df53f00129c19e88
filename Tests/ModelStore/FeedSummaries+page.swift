import Catalog
import Feed

extension [FeedSummary] {
  /// The page that the query asks of these feeds, which are in the order of their names' bytes.
  func page(_ query: FeedListQuery) -> FeedListPage {
    let top = query.after.map { cursor in count { !isBelow($0, cursor) } } ?? 0
    let end = query.before.map { cursor in count { isAbove($0, cursor) } } ?? count
    var gap = self[top..<Swift.max(top, end)]
    let (isAboveMore, isBelowMore): (Bool, Bool)
    if query.after == nil && query.before != nil {
      isAboveMore = gap.count > query.limit
      gap = gap.suffix(query.limit)
      isBelowMore = end < count
    } else {
      isBelowMore = gap.count > query.limit || query.before == nil && gap.endIndex < count
      gap = gap.prefix(query.limit)
      isAboveMore = query.before == nil && top > 0
    }
    return FeedListPage(
      feeds: Array(gap), total: count,
      next: isBelowMore ? gap.last.map { .name($0.name) } ?? .start : nil,
      previous: isAboveMore ? gap.first.map { .name($0.name) } ?? .end : nil)
  }

  private func isBelow(_ feed: FeedSummary, _ cursor: FeedListCursor) -> Bool {
    switch cursor {
    case .start: true
    case .end: false
    case .name(let name): ByteText(name) < ByteText(feed.name)
    }
  }

  private func isAbove(_ feed: FeedSummary, _ cursor: FeedListCursor) -> Bool {
    switch cursor {
    case .start: false
    case .end: true
    case .name(let name): ByteText(feed.name) < ByteText(name)
    }
  }
}
