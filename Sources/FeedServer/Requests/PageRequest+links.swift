import Catalog
import Feed
import HTTP
import PostJSON

extension PageRequest {
  /// What leads on from a page that was cut for the request.
  func links(of slice: PageSlice) -> PageLinks {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.linkCapacity)
    slice.newer.write(to: &bytes)
    let newer = 0..<bytes.count
    guard slice.next != nil || slice.previous != nil else {
      return PageLinks(bytes, newerCursor: newer, next: nil, previous: nil)
    }
    let start = linkStart
    let (after, before) = (parameters["after"], parameters["before"])
    // Of a gap, the other end stays where it is.
    let isGap = after != nil && before != nil
    let next = slice.next.map { cursor in
      bytes.appendLink(start) { link in
        link.append(text: "&after=")
        let range = link.append(cursor)
        if isGap, let before {
          link.append(text: "&before=")
          link.append(text: before)
        }
        return range
      }
    }
    let previous = slice.previous.map { cursor in
      bytes.appendLink(start) { link in
        if isGap, let after {
          link.append(text: "&after=")
          link.append(text: after)
        }
        link.append(text: "&before=")
        return link.append(cursor)
      }
    }
    return PageLinks(bytes, newerCursor: newer, next: next, previous: previous)
  }

  /// What three cursors and two links take, where names are no longer than most.
  private static let linkCapacity = 1000

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
    if let width = bounds.widthPixels {
      start.append(text: "&width=")
      start.append(text: String(width))
    }
    return start
  }
}

extension [UInt8] {
  /// Appends a link that begins like this.
  ///
  /// - Parameter rest: appends what follows, and says where in it the cursor lies. Cursors need no encoding.
  fileprivate mutating func appendLink(
    _ start: [UInt8], rest: (inout [UInt8]) -> Range<Int>
  ) -> PageLinks.Link {
    let first = count
    append(contentsOf: start)
    let cursor = rest(&self)
    return PageLinks.Link(target: first..<count, cursor: cursor)
  }

  /// Appends the cursor's text; where it lies.
  fileprivate mutating func append(_ cursor: Cursor) -> Range<Int> {
    let start = count
    cursor.write(to: &self)
    return start..<count
  }
}
