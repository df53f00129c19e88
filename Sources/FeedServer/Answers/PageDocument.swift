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
  private static let pageCapacity = 4096

  var json: [UInt8] {
    let loads = items.items.indices.map(items.load(at:))
    var writer = JSONWriter(
      capacity: items.bytes.count + Self.itemCapacity * loads.count + Self.pageCapacity)
    writer.object { writer in
      writeFeed(to: &writer)
      writer.key("items")
      writer.array { writer in
        for (item, load) in zip(items.items, loads) {
          writer.object(continuing: items.bytes.span.extracting(item.json)) { writer in
            writer.hint(policy.hint(for: load))
          }
        }
      }
      writePaging(to: &writer)
      writePrefetch(of: loads, to: &writer)
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

  private func writePrefetch(of loads: [ItemLoad], to writer: inout JSONWriter) {
    let plan = policy.plan(
      for: loads, on: network, bounds: bounds, hasNextPage: cut.slice.next != nil)
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
        for part in plan.parts { write(part, to: &writer) }
      }
      writer.member("planBytes", plan.bytes)
    }
  }

  private func write(_ part: PagePlan.Part, to writer: inout JSONWriter) {
    let id = items.bytes.span.extracting(items.items[part.itemIndex].openID)
    writer.object { writer in
      writer.literal(#""item":"#)
      writer.literal(id)
      if let index = part.mediaIndex {
        writer.literal(#"","media":"#)
        writer.literal(id)
        writer.literal(capacity: 32) { text in
          text.append(".")
          text.append(decimal: index)
        }
      }
      writer.literal(capacity: 100) { text in
        text.append(#"","range":[0,"#)
        text.append(decimal: part.bytes - 1)
        text.append(#"],"bytes":"#)
        text.append(decimal: part.bytes)
      }
      writer.member("why", part.reason.rawValue)
      writer.estimated(part.isEstimated)
    }
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
    literal(capacity: 160) { text in
      text.append(#","prefetch":{"weight":"#)
      text.append(decimal: hint.weight)
      text.append(#","minimumBytes":"#)
      text.append(decimal: hint.minimumBytes)
      text.append(#","entireBytes":"#)
      text.append(decimal: hint.entireBytes)
      text.append(hint.isEstimated ? #","estimated":true}"# : "}")
    }
  }

  /// Said where it is so, and only there.
  mutating func estimated(_ isEstimated: Bool) {
    guard isEstimated else { return }
    key("estimated")
    boolean(true)
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
