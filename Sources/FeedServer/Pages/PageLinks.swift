import Catalog
import Feed
import HTTP

/// What leads from a page to the ones beside it: the cursors as clients get them, and links that are
/// ready to follow.
struct PageLinks: Sendable {
  let nextCursor: String?
  let previousCursor: String?
  let newerCursor: String
  let next: String?
  let previous: String?

  init(_ slice: PageSlice, _ asked: PageRequest) {
    nextCursor = slice.next?.text
    previousCursor = slice.previous?.text
    newerCursor = slice.newer.text
    let start = asked.linkStart
    next = nextCursor.map { start + asked.linkEnd(after: $0) }
    previous = previousCursor.map { start + asked.linkEnd(before: $0) }
  }
}
