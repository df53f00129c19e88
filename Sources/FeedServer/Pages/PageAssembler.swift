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
    let json: [UInt8]
    /// Ready to follow.
    let links: PageLinks
  }

  /// The page that is asked for.
  ///
  /// Where a post is gone, what is in memory is behind the store: it is brought up to it and the page
  /// cut again.
  ///
  /// - Throws: `FeedError` for what the store does not have, and what the store says of itself.
  func assemble(_ asked: PageRequest, _ timing: Timing?) throws -> Assembled {
    for attempt in 1... {
      let book = try store.policyBook()
      let cut = try timing.measure("cut") { try store.cut(asked.query) }
      let items = try timing.measure("read") { try source.items(cut.posts) }
      // Where deletions are faster than this reader, what is left of the page is right as far as it
      // goes.
      if items.items.count == cut.slice.count || attempt == 3 {
        return timing.measure("encode") { encode(cut, items, asked, book) }
      }
      try store.refresh()
    }
    preconditionFailure("the third attempt returns")
  }

  private func encode(
    _ cut: PageCut, _ items: EncodedItems, _ asked: PageRequest, _ book: PolicyBook
  ) -> Assembled {
    let links = PageLinks(cut.slice, asked)
    let document = PageDocument(
      cut: cut, items: items,
      policy: book.policy(feed: asked.query.feed, network: asked.network.profile),
      network: asked.network.profile, bounds: asked.bounds, links: links)
    return Assembled(cut: cut, json: document.json, links: links)
  }
}
