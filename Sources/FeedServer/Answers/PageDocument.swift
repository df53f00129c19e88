import Feed
import JSON
import Prefetch
import Seeding

/// A page as JSON.
struct PageDocument {
  let page: FeedPage
  let policy: Policy
  let network: NetworkProfile
  let bounds: PlanBounds
  /// Ready to follow.
  let links: (next: String?, previous: String?)

  /// A page of 30 items has some 15 KB.
  private static let capacity = 1 << 15

  var json: [UInt8] {
    var writer = JSONWriter(capacity: Self.capacity)
    writer.object { writer in
      writeFeed(to: &writer)
      writer.key("items")
      writer.array { writer in
        for post in page.posts { writer.item(post, policy.hint(for: post)) }
      }
      writePaging(to: &writer)
      writePrefetch(to: &writer)
    }
    return writer.bytes
  }

  private func writeFeed(to writer: inout JSONWriter) {
    writer.key("feed")
    writer.object { writer in
      writer.member("name", page.feed.name)
      writer.member("title", page.feed.title)
      writer.member("total", page.feed.total)
      writer.member("ranking", page.feed.ranking)
    }
  }

  private func writePaging(to writer: inout JSONWriter) {
    let slice = page.slice
    writer.key("paging")
    writer.object { writer in
      writer.member("offset", slice.offset)
      writer.member("ranking", slice.ranking)
      writer.nullable("next", slice.next?.text)
      writer.nullable("prev", slice.previous?.text)
      writer.member("newer", slice.newer.text)
      writer.key("links")
      writer.object { writer in
        writer.member("next", links.next)
        writer.member("prev", links.previous)
      }
    }
  }

  private func writePrefetch(to writer: inout JSONWriter) {
    let plan = policy.plan(
      for: page.posts, on: network, bounds: bounds, hasNextPage: page.slice.next != nil)
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
    let post = page.posts[part.itemIndex]
    writer.object { writer in
      writer.member("item", post.id)
      writer.member("media", part.mediaIndex.map(post.mediaID(at:)))
      writer.key("range")
      writer.array { writer in
        writer.integer(0)
        writer.integer(part.bytes - 1)
      }
      writer.member("bytes", part.bytes)
      writer.member("why", part.reason.rawValue)
      writer.estimated(part.isEstimated)
    }
  }
}

extension JSONWriter {
  /// An item of a page, or on its own, with the feeds in which it is.
  mutating func item(_ post: Post, _ hint: Hint, placements: [Placement]? = nil) {
    object { writer in
      writer.member("id", post.id)
      if let placements { writer.feeds(placements) }
      writer.member("type", post.type.rawValue)
      writer.details(of: FlatPosts(post), at: 0) { writer, index in
        writer.member("id", post.mediaID(at: index))
      }
      writer.key("prefetch")
      writer.object { writer in
        writer.member("weight", hint.weight)
        writer.member("minimumBytes", hint.minimumBytes)
        writer.member("entireBytes", hint.entireBytes)
        writer.estimated(hint.isEstimated)
      }
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
