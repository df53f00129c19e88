import Feed
import JSON
import Prefetch

/// What leads from a page to the ones beside it, in ASCII: the cursors as clients get them, and links that
/// are ready to follow.
public struct PageLinks: Sendable {
  /// The cursor for `after`; `nil` on the last page.
  public var nextCursor: [UInt8]?
  /// The cursor for `before`; `nil` on the first page.
  public var previousCursor: [UInt8]?
  /// The cursor of pull-to-refresh.
  public var newerCursor: [UInt8]
  /// The target of the next page.
  public var next: [UInt8]?
  /// The target of the page before.
  public var previous: [UInt8]?

  /// A page's links; without more, those of a page that is alone.
  public init(newerCursor: [UInt8]) {
    self.newerCursor = newerCursor
  }
}

/// What to load ahead of a page, and what that was worked out from.
public struct PagePrefetch: Sendable {
  /// The plan.
  public let plan: PagePlan
  /// The policy that made it.
  public let policy: Policy
  /// The network that it is for.
  public let network: NetworkProfile
  /// What bounded it.
  public let bounds: PlanBounds

  /// The plan with what it was worked out from.
  public init(plan: PagePlan, policy: Policy, network: NetworkProfile, bounds: PlanBounds) {
    self.plan = plan
    self.policy = policy
    self.network = network
    self.bounds = bounds
  }
}

extension JSONWriter {
  /// A page up to its first item. Its items follow as they are, commas between them, and `endPage`.
  public mutating func beginPage(feed name: String, title: String?, total: Int, ranking: Int) {
    literal(#"{"feed":"#)
    beginDocument()
    object { writer in
      writer.member("name", name)
      writer.member("title", title)
      writer.member("total", total)
      writer.member("ranking", ranking)
    }
    literal(#","items":["#)
  }

  /// A page behind its last item.
  ///
  /// - Parameters:
  ///   - openIDs: where in `items` the ids of the page's first items lie, as JSON without quotes: of as many
  ///     as the plan has parts of.
  public mutating func endPage(
    offset: Int, ranking: Int, links: PageLinks, prefetch: PagePrefetch, openIDs: [Range<Int>],
    of items: [UInt8]
  ) {
    literal(#"],"paging":"#)
    beginDocument()
    object { writer in
      writer.member("offset", offset)
      writer.member("ranking", ranking)
      writer.nullable("next", plain: links.nextCursor)
      writer.nullable("prev", plain: links.previousCursor)
      writer.nullable("newer", plain: links.newerCursor)
      writer.key("links")
      writer.object { writer in
        if let next = links.next { writer.nullable("next", plain: next) }
        if let previous = links.previous { writer.nullable("prev", plain: previous) }
      }
    }
    key("prefetch")
    object { writer in writer.members(of: prefetch, openIDs, items) }
    literal("}")
  }

  private mutating func members(
    of prefetch: PagePrefetch, _ openIDs: [Range<Int>], _ items: [UInt8]
  ) {
    let (plan, policy) = (prefetch.plan, prefetch.policy)
    // Who saves data loads nothing ahead, however the person scrolls.
    let savesData = prefetch.bounds.savesData
    member("network", prefetch.network.name)
    member("policy", policy.name)
    member("maxCost", savesData ? 0 : policy.maxCost)
    member("leading", savesData ? 0 : policy.leading)
    member("trailing", savesData ? 0 : policy.trailing)
    key("nextPageAt")
    if let index = plan.nextPageAt { integer(index) } else { null() }
    key("plan")
    array { writer in
      let ids = plan.parts.reduce(0) { $0 + 2 * openIDs[$1.itemIndex].count }
      writer.literal(capacity: ids + OutputSpan<UInt8>.partCapacity * plan.parts.count) { text in
        for (index, part) in plan.parts.enumerated() {
          if index > 0 { text.append(",") }
          text.append(part, ofItem: items.span.extracting(openIDs[part.itemIndex]))
        }
      }
    }
    member("planBytes", plan.bytes)
  }

  /// A text of ASCII of which nothing must be escaped, `null` where there is none.
  private mutating func nullable(_ name: StaticString, plain text: [UInt8]?) {
    key(name)
    guard let text else { return null() }
    literal(capacity: text.count + 2) { output in
      output.append("\"")
      output.append(text.span)
      output.append("\"")
    }
  }
}

extension OutputSpan<UInt8> {
  /// What a part of the plan takes at the most, beside its item's id twice.
  fileprivate static var partCapacity: Int { 160 }

  fileprivate mutating func append(_ part: PagePlan.Part, ofItem openID: Span<UInt8>) {
    append(#"{"item":""#)
    append(openID)
    append("\"")
    if let index = part.mediaIndex {
      append(#","media":"#)
      append(mediaID: index, ofPost: openID)
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
    append(#","why":""#)
    append(string: part.reason.rawValue)
    append(part.isEstimated ? #"","estimated":true}"# : #""}"#)
  }
}
