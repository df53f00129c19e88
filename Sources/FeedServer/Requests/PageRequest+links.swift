import Catalog
import Feed
import HTTP
import PostJSON

extension PageRequest {
  /// What leads on from a page that was cut for the request.
  func links(of slice: PageSlice) -> PageLinks {
    var links = PageLinks(newerCursor: slice.newer.utf8)
    links.nextCursor = slice.next?.utf8
    links.previousCursor = slice.previous?.utf8
    guard links.nextCursor != nil || links.previousCursor != nil else { return links }
    let start = linkStart
    let (after, before) = (parameters["after"], parameters["before"])
    // Of a gap, the other end stays where it is.
    let isGap = after != nil && before != nil
    links.next = links.nextCursor.map {
      link(start, after: $0, before: isGap ? before.map { Array($0.utf8) } : nil)
    }
    links.previous = links.previousCursor.map {
      link(start, after: isGap ? after.map { Array($0.utf8) } : nil, before: $0)
    }
    return links
  }

  /// A cursor's text needs no encoding.
  private func link(_ start: [UInt8], after: [UInt8]?, before: [UInt8]?) -> [UInt8] {
    var link: [UInt8] = []
    link.reserveCapacity(start.count + 16 + (after?.count ?? 0) + (before?.count ?? 0))
    link.append(contentsOf: start)
    if let after {
      link.append(text: "&after=")
      link.append(contentsOf: after)
    }
    if let before {
      link.append(text: "&before=")
      link.append(contentsOf: before)
    }
    return link
  }

  /// A link up to its cursor: the route, and the parameters that links repeat; places are in cursors.
  private var linkStart: [UInt8] {
    var start: [UInt8] = []
    start.reserveCapacity(256)
    start.append(text: isCompact ? "/rp/?feed=" : "/v1/feeds/")
    PercentEncoding.append(query.feed, for: isCompact ? .queryValue : .pathSegment, to: &start)
    start.append(text: isCompact ? "&limit=" : "/items?limit=")
    start.append(text: String(query.limit))
    if network.isNamed {
      start.append(text: "&network=")
      PercentEncoding.append(network.profile.name, for: .queryValue, to: &start)
    }
    if let savesData { start.append(text: savesData ? "&saveData=true" : "&saveData=false") }
    if let budget = bounds.budgetBytes {
      start.append(text: "&budget=")
      start.append(text: String(budget))
    }
    return start
  }
}
