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
    // Of a gap, the other end stays where it is.
    let isGap = parameters["after"] != nil && parameters["before"] != nil
    var start: Range<Int>?
    let next = link(
      slice.next, "&after=", behind: nil, beside: isGap ? "before" : nil, &start, in: &bytes)
    let previous = link(
      slice.previous, "&before=", behind: isGap ? "after" : nil, beside: nil, &start, in: &bytes)
    return PageLinks(bytes, newerCursor: newer, next: next, previous: previous)
  }

  /// Appends a link to the cursor, where there is one, with the parameters of these names as they came.
  private func link(
    _ cursor: Cursor?, _ name: String, behind first: String?, beside last: String?,
    _ start: inout Range<Int>?, in bytes: inout [UInt8]
  ) -> PageLinks.Link? {
    guard let cursor else { return nil }
    let link = beginLink(&start, in: &bytes)
    append(first, to: &bytes)
    bytes.append(text: name)
    let text = bytes.count
    cursor.write(to: &bytes)
    let end = bytes.count
    append(last, to: &bytes)
    return PageLinks.Link(target: link..<bytes.count, cursor: text..<end)
  }

  /// Appends the parameter of this name as it came.
  private func append(_ name: String?, to bytes: inout [UInt8]) {
    guard let name, let value = parameters[name] else { return }
    bytes.append(text: "&\(name)=")
    bytes.append(text: value)
  }

  /// What three cursors and two links take, where names are no longer than most.
  private static let linkCapacity = 1000

  /// Appends a link up to its cursor: the route, and the parameters that links repeat; places are in cursors.
  ///
  /// - Parameter start: where such a beginning lies already, if one does.
  /// - Returns: where the link begins. Cursors need no encoding.
  private func beginLink(_ start: inout Range<Int>?, in bytes: inout [UInt8]) -> Int {
    let first = bytes.count
    if let start {
      for index in start { bytes.append(bytes[index]) }
    } else {
      appendLinkStart(to: &bytes)
      start = first..<bytes.count
    }
    return first
  }

  private func appendLinkStart(to bytes: inout [UInt8]) {
    bytes.append(text: isCompact ? "/rp/?feed=" : "/v1/feeds/")
    PercentEncoding.append(query.feed, for: isCompact ? .queryValue : .pathSegment, to: &bytes)
    bytes.append(text: isCompact ? "&limit=" : "/items?limit=")
    bytes.append(text: String(query.limit))
    if network.isNamed {
      bytes.append(text: "&network=")
      PercentEncoding.append(network.profile.name, for: .queryValue, to: &bytes)
    }
    if let savesData { bytes.append(text: savesData ? "&saveData=true" : "&saveData=false") }
    if let budget = bounds.budgetBytes {
      bytes.append(text: "&budget=")
      bytes.append(text: String(budget))
    }
    if let width = bounds.widthPixels {
      bytes.append(text: "&width=")
      bytes.append(text: String(width))
    }
  }
}
