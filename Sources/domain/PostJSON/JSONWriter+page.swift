import Feed
import JSON
import Prefetch

/// The links from a page to its neighbors: the cursors for clients, and complete targets, in ASCII without
/// characters that must be escaped.
public struct PageLinks: Sendable {
  /// The range of a link in `bytes`.
  public struct Link: Sendable {
    /// The range of the target.
    public let target: Range<Int>
    /// The part of it that is the cursor.
    public let cursor: Range<Int>

    /// Creates a link.
    public init(target: Range<Int>, cursor: Range<Int>) {
      self.target = target
      self.cursor = cursor
    }
  }

  /// All links, concatenated.
  public let bytes: [UInt8]
  /// The cursor of pull-to-refresh.
  public let newerCursor: Range<Int>
  /// The link to the next page, with the cursor for `after`; `nil` on the last page.
  public let next: Link?
  /// The link to the previous page, with the cursor for `before`; `nil` on the first page.
  public let previous: Link?

  /// Creates the links from their ranges in the bytes.
  public init(_ bytes: [UInt8], newerCursor: Range<Int>, next: Link?, previous: Link?) {
    self.bytes = bytes
    self.newerCursor = newerCursor
    self.next = next
    self.previous = previous
  }
}

extension JSONWriter {
  /// Writes a page up to its first item. Its items follow unchanged, separated by commas, and then
  /// `endPage`.
  public mutating func beginPage(feed name: String, title: String?, total: Int, ranking: Int) {
    literal(#"{"feed":{"name":"#)
    beginDocument()
    string(name)
    member("title", title)
    literal(capacity: 120) { text in
      text.append(#","total":"#)
      text.append(decimal: total)
      text.append(#","ranking":"#)
      text.append(decimal: ranking)
      text.append(#"},"items":["#)
    }
  }

  /// Writes a page after its last item.
  ///
  /// - Parameters:
  ///   - plan: The files to load ahead, by this policy, for this network, within these bounds.
  ///   - experiment: The experiment on the policy and the arm of the page.
  ///   - openIDs: The ranges in `items` of the ids of the page's first items, as JSON without quotes, for
  ///     at least the items of the plan's parts.
  public mutating func endPage(
    offset: Int, ranking: Int, links: PageLinks, plan: PagePlan, by policy: Policy,
    trying experiment: (ExperimentDraw, ExperimentArm)? = nil, on network: NetworkProfile,
    within bounds: PlanBounds, openIDs: [Range<Int>],
    of items: [UInt8]
  ) {
    // Each link is written at most twice: as a target, and as its cursor.
    literal(capacity: 2 * links.bytes.count + 240) { text in
      let bytes = links.bytes.span
      text.append(#"],"paging":{"offset":"#)
      text.append(decimal: offset)
      text.append(#","ranking":"#)
      text.append(decimal: ranking)
      text.append(#","next":"#)
      text.append(plain: links.next.map(\.cursor), of: bytes)
      text.append(#","prev":"#)
      text.append(plain: links.previous.map(\.cursor), of: bytes)
      text.append(#","newer":"#)
      text.append(plain: links.newerCursor, of: bytes)
      text.append(#","links":{"#)
      if let next = links.next {
        text.append(#""next":"#)
        text.append(plain: next.target, of: bytes)
      }
      if let previous = links.previous {
        text.append(links.next == nil ? #""prev":"# : #","prev":"#)
        text.append(plain: previous.target, of: bytes)
      }
      text.append(#"}},"prefetch":{"network":"#)
    }
    beginDocument()
    string(network.name)
    member("policy", policy.name)
    if let (draw, arm) = experiment {
      key("experiment")
      self.experiment(draw, arm)
    }
    append(plan, by: policy, bounds.savesData, openIDs, items)
    literal("}}")
  }

  /// Writes the members of `prefetch` after its names.
  private mutating func append(
    _ plan: PagePlan, by policy: Policy, _ savesData: Bool, _ openIDs: [Range<Int>],
    _ items: [UInt8]
  ) {
    // With data saving, nothing is loaded ahead, whichever way the user scrolls.
    let ids = plan.parts.reduce(0) { $0 + 2 * openIDs[$1.itemIndex].count }
    literal(capacity: ids + OutputSpan<UInt8>.partCapacity * plan.parts.count + 240) { text in
      text.append(#","maxCost":"#)
      text.append(decimal: savesData ? 0 : policy.maxCost)
      text.append(#","leading":"#)
      text.append(decimal: savesData ? 0 : policy.leading)
      text.append(#","trailing":"#)
      text.append(decimal: savesData ? 0 : policy.trailing)
      text.append(#","nextPageAt":"#)
      if let index = plan.nextPageAt { text.append(decimal: index) } else { text.append("null") }
      text.append(#","plan":["#)
      for (index, part) in plan.parts.enumerated() {
        if index > 0 { text.append(",") }
        text.append(part, ofItem: items.span.extracting(openIDs[part.itemIndex]))
      }
      text.append(#"],"planBytes":"#)
      text.append(decimal: plan.bytes)
    }
  }
}

extension OutputSpan<UInt8> {
  /// Appends a text without characters that must be escaped; `null` if there is none.
  fileprivate mutating func append(plain range: Range<Int>?, of bytes: Span<UInt8>) {
    guard let range else { return append("null") }
    append("\"")
    append(bytes.extracting(range))
    append("\"")
  }

  /// The maximum size of a part of the plan, without its item's id, which it contains twice.
  fileprivate static var partCapacity: Int { 192 }

  fileprivate mutating func append(_ part: PagePlan.Part, ofItem openID: Span<UInt8>) {
    append(#"{"item":""#)
    append(openID)
    append("\"")
    if let index = part.mediaIndex {
      append(#","media":"#)
      append(mediaID: index, ofPost: openID)
    }
    if let index = part.variantIndex {
      append(#","variant":"#)
      append(decimal: index)
    }
    if let range = part.range {
      append(#","range":["#)
      append(decimal: range.lowerBound)
      append(",")
      append(decimal: range.upperBound - 1)
      append("]")
    }
    append(#","bytes":"#)
    append(decimal: part.bytes)
    switch part.reason {
    case .active: append(#","why":"active""#)
    case .start: append(#","why":"start""#)
    case .whole: append(#","why":"whole""#)
    }
    append(part.isEstimated ? #","estimated":true}"# : "}")
  }
}

extension JSONWriter {
  /// Writes the values with which a client draws its arm, as an object.
  ///
  /// - Parameter arm: The arm of the response; `nil` if it is for all arms.
  public mutating func experiment(
    _ draw: ExperimentDraw, _ arm: ExperimentArm?, _ others: (inout JSONWriter) -> Void = { _ in }
  ) {
    object { writer in
      writer.member("id", draw.id)
      writer.member("arm", arm?.rawValue)
      writer.member("salt", draw.salt)
      writer.array("shares") { writer in for share in draw.shares { writer.integer(share) } }
      others(&writer)
    }
  }

  /// Writes a policy: its name, its strategy, and its costs of items.
  public mutating func policy(_ policy: Policy) {
    object { writer in
      writer.member("name", policy.name)
      writer.member("strategy", policy.strategy.name)
      writer.object("parameters") { writer in
        for (name, value) in policy.strategy.parameters {
          writer.key(text: name)
          writer.integer(value)
        }
      }
      writer.member("maxCost", policy.maxCost)
      writer.member("leading", policy.leading)
      writer.member("trailing", policy.trailing)
      writer.object("weights") { writer in
        writer.member("image", policy.imageWeight)
        writer.member("video", policy.videoWeight)
        writer.member("webapp", policy.webappWeight)
        writer.member("ad", policy.adWeight)
        writer.member("text", policy.textWeight)
      }
      writer.member("carouselVisibleParts", policy.carouselVisibleParts)
      writer.object("defaults") { writer in
        writer.member("videoStartBytes", policy.videoStartBytes)
        writer.member("videoBytes", policy.videoBytes)
        writer.member("videoKbps", policy.videoKbps)
        writer.member("imageBytes", policy.imageBytes)
        writer.member("webappBytes", policy.webappBytes)
      }
      writer.member("nextPagePercent", policy.nextPagePercent)
      writer.member("itemsPerMinute", policy.itemsPerMinute)
    }
  }
}
