import Catalog
import Feed
import HTTP
import Prefetch

/// Makes pages out of what is in memory of a feed, and its items.
struct PageAssembler: Sendable {
  let store: any FeedStore & PolicyStore
  let source: ItemSource

  /// A page that was made.
  struct Assembled {
    let cut: PageCut
    /// As of when all of it was true together.
    let version: StoreVersion
    /// What was asked for, with the networks of that moment.
    let asked: PageRequest
    let json: [UInt8]
    /// Ready to follow.
    let links: PageLinks
  }

  /// The page that is asked for, from a snapshot alone, and its items.
  ///
  /// Where a post is gone, what is in memory is behind the store: it is brought up to it and the page
  /// made anew from a later snapshot; likewise where an order that had to be loaded is a later one.
  ///
  /// - Throws: `FeedError` for what the store does not have, and what the store says of itself.
  func assemble(
    _ text: PageText, _ asked: PageRequest, _ snapshot: any StoreSnapshot, _ timing: Timing?
  ) throws -> Assembled {
    var (asked, snapshot) = (asked, snapshot)
    func takeSnapshot() throws {
      snapshot = try store.snapshot()
      asked = try text.request(snapshot.policyBook.networks)
    }
    for attempt in 1... {
      let cut: PageCut
      do {
        cut = try timing.measure("cut") { try snapshot.cut(asked.query) }
      } catch FeedError.unknownRanking where attempt == 1 {
        // Another server may have handed the cursor out since the last look.
        try store.refresh()
        try takeSnapshot()
        continue
      }
      let items = try timing.measure("read") { try source.items(cut.posts) }
      // Where deletions are faster than this reader, what is left of the page is right as far as it
      // goes.
      let isWhole = items.items.count == cut.slice.count
      if isWhole && cut.version == snapshot.version || attempt == 3 {
        return timing.measure("encode") { encode(cut, items, asked, snapshot) }
      }
      if !isWhole { try store.refresh() }
      try takeSnapshot()
    }
    preconditionFailure("the third attempt returns")
  }

  private func encode(
    _ cut: PageCut, _ items: EncodedItems, _ asked: PageRequest, _ snapshot: any StoreSnapshot
  ) -> Assembled {
    let links = PageLinks(cut.slice, asked)
    let document = PageDocument(
      cut: cut, items: items,
      policy: snapshot.policyBook.policy(feed: asked.query.feed, network: asked.network.profile),
      network: asked.network.profile, bounds: asked.bounds, links: links)
    return Assembled(
      cut: cut, version: min(cut.version, snapshot.version), asked: asked, json: document.json,
      links: links)
  }
}
