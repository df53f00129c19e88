import Catalog
import Feed
import JSON
import Prefetch
import Seeding

/// A page as JSON.
struct PageDocument {
  let cut: PageCut
  let items: EncodedItems
  let policy: Policy
  let network: NetworkProfile
  let bounds: PlanBounds
  let links: PageLinks

  /// What hints, plan and paging take at the most, beside an item's own bytes.
  private static let itemCapacity = 256
  /// What a part of the plan takes at the most, beside its item's id.
  private static let partCapacity = 160
  private static let pageCapacity = 4096

  var json: [UInt8] {
    let items = items
    let count = items.items.count
    var writer = JSONWriter(
      capacity: items.bytes.count + Self.itemCapacity * count + Self.pageCapacity)
    writer.object { writer in
      writeFeed(to: &writer)
      writer.key("items")
      writer.array { writer in
        writer.literal(capacity: items.bytes.count + Self.itemCapacity * count) { text in
          let bytes = items.bytes.span
          for index in 0..<count {
            if index > 0 { text.append(",") }
            text.append(bytes.extracting(items.items[index].json))
            text.append(policy.hint(for: items.load(at: index)))
            text.append("}")
          }
        }
      }
      writePaging(to: &writer)
      writePrefetch(to: &writer)
    }
    return writer.bytes
  }

  private func writeFeed(to writer: inout JSONWriter) {
    writer.key("feed")
    writer.object { writer in
      writer.member("name", cut.feed.name)
      writer.member("title", cut.feed.title)
      writer.member("total", cut.feed.total)
      writer.member("ranking", cut.feed.ranking)
    }
  }

  private func writePaging(to writer: inout JSONWriter) {
    let slice = cut.slice
    writer.key("paging")
    writer.object { writer in
      writer.member("offset", slice.offset)
      writer.member("ranking", slice.ranking)
      writer.nullable("next", links.nextCursor)
      writer.nullable("prev", links.previousCursor)
      writer.member("newer", links.newerCursor)
      writer.key("links")
      writer.object { writer in
        writer.member("next", links.next)
        writer.member("prev", links.previous)
      }
    }
  }

  private func writePrefetch(to writer: inout JSONWriter) {
    let plan = policy.plan(
      for: items.items.indices.prefix(policy.plannedItems).map(items.load(at:)),
      of: items.items.count, on: network, bounds: bounds, hasNextPage: cut.slice.next != nil)
    writer.key("prefetch")
    writer.object { writer in
      writer.member("network", network.name)
      writer.member("policy", policy.name)
      // Who saves data loads nothing ahead, however the person scrolls.
      writer.member("maxCost", bounds.savesData ? 0 : policy.maxCost)
      writer.member("leading", bounds.savesData ? 0 : policy.leading)
      writer.member("trailing", bounds.savesData ? 0 : policy.trailing)
      writer.nullable("nextPageAt", plan.nextPageAt)
      writer.key("plan")
      writer.array { writer in
        let ids = plan.parts.reduce(0) { $0 + 2 * items.items[$1.itemIndex].idCount }
        writer.literal(capacity: ids + Self.partCapacity * plan.parts.count) { text in
          for (index, part) in plan.parts.enumerated() {
            if index > 0 { text.append(",") }
            write(part, to: &text)
          }
        }
      }
      writer.member("planBytes", plan.bytes)
    }
  }

  private func write(_ part: PagePlan.Part, to text: inout OutputSpan<UInt8>) {
    let id = items.bytes.span.extracting(items.items[part.itemIndex].openID)
    text.append(#"{"item":"#)
    text.append(id)
    if let index = part.mediaIndex {
      text.append(#"","media":"#)
      text.append(id)
      text.append(".")
      text.append(decimal: index)
    }
    text.append(#"","range":[0,"#)
    text.append(decimal: part.bytes - 1)
    text.append(#"],"bytes":"#)
    text.append(decimal: part.bytes)
    text.append(#","why":""#)
    text.append(string: part.reason.rawValue)
    text.append(part.isEstimated ? #"","estimated":true}"# : #""}"#)
  }
}

extension JSONWriter {
  /// An item on its own, with the feeds in which it is.
  mutating func item(_ item: StoredItem, _ hint: Hint) {
    let post = FlatPosts(item.post)
    object { writer in
      writer.member("id", item.post.id)
      writer.feeds(item.placements)
      writer.member("type", item.post.type.rawValue)
      writer.mediaDetails(of: post, at: 0)
      writer.hint(hint)
    }
  }

  /// The member `prefetch` of an item, behind other members.
  mutating func hint(_ hint: Hint) {
    literal(capacity: 160) { $0.append(hint) }
  }

  /// A member that is `null` where there is nothing.
  mutating func nullable(_ name: StaticString, _ value: String?) {
    key(name)
    if let value { string(value) } else { null() }
  }

  /// A member that is `null` where there is nothing.
  mutating func nullable(_ name: StaticString, _ value: Int?) {
    key(name)
    if let value { integer(value) } else { null() }
  }
}

extension OutputSpan<UInt8> {
  /// The member `prefetch` of an item, behind other members: 160 bytes at the most.
  fileprivate mutating func append(_ hint: Hint) {
    append(#","prefetch":{"weight":"#)
    append(decimal: hint.weight)
    append(#","minimumBytes":"#)
    append(decimal: hint.minimumBytes)
    append(#","entireBytes":"#)
    append(decimal: hint.entireBytes)
    append(hint.isEstimated ? #","estimated":true}"# : "}")
  }
}
