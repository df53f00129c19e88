import Catalog
import Feed
import FeedFormats
import HTTP
import HTTPServer

// MARK: Feeds for readers of feeds

extension Application {
  /// A page of a feed as a JSON Feed or RSS, with absolute URLs; one that is kept, or else made by a worker.
  func syndicate(_ feed: String, _ route: Route, _ parameters: Parameters, _ call: Call) throws {
    let home = try hosts.home(forHost: call.request.host, at: call.responder.localAddress)
    let asked = try SyndicationRequest(
      feed: feed, route: route, parameters, home: home, linking.links)
    let coding = try encoding.coding(for: call.request)
    // Nothing is found by the text without the host, which decides about the URLs and may not be allowed.
    let text = RequestText(call.request, expires: asked.links.expires, home: home)
    if let page = pages.kept.find(asked.key(coding), for: text) {
      return call.respond(try page.answer(to: call.request))
    }
    let isTaken = workers.run(for: call) {
      call.attempt {
        // Others may have asked for it, too, and before.
        if let page = pages.kept.find(text) {
          return call.respond(try page.answer(to: call.request))
        }
        try make(asked, route, coding, text, call)
      }
    }
    guard isTaken else {
      throw Problem(.overloaded, .serviceUnavailable, "Too many requests wait for the database.")
    }
  }

  private func make(
    _ asked: SyndicationRequest, _ route: Route, _ coding: ContentCoding, _ text: RequestText,
    _ call: Call
  ) throws {
    // Before anything is read: what is written meanwhile is looked at when the page is asked for again.
    let version = store.version
    let (cut, posts) = try store.pagePosts(asked.query)
    let page = page(asked, cut, posts)
    feedRequests.note(cut.feed.name)
    var representation = Representation(
      route == .rss ? page.rss : page.jsonFeed, route == .rss ? .rss : .jsonFeed,
      caching: caching.pages)
    representation.cacheKeys = .page(feed: cut.feed.name)
    representation.links = .ofPage(next: page.next, previous: page.previous)
    let keep = { @Sendable [pages, feedRequests] (variant: Variant) in
      pages.kept.keep(
        text, asked.key(coding), bodyBytes: variant.body.count,
        KeptPage(
          variant, route: route.path, feed: cut.feed.name, posts: cut.posts,
          asOf: min(version, cut.version), requests: feedRequests))
    }
    if let variant = encoding.plain(representation, in: coding, for: call.request) {
      keep(variant)
      return call.respond(try variant.answer(to: call.request))
    }
    try encoding.compress(representation, in: coding, for: call, made: keep)
  }

  private func page(
    _ asked: SyndicationRequest, _ cut: PageCut, _ posts: FlatPosts
  ) -> SyndicationPage {
    func name(_ url: String) -> String {
      let bytes = Array(url.utf8)
      let named = asked.links.name(of: bytes.span, version: nil)?.url
      return named.map { String(decoding: $0, as: UTF8.self) } ?? url
    }
    return SyndicationPage(
      title: cut.feed.title ?? cut.feed.name, home: asked.home, url: asked.own,
      next: asked.next(of: cut.slice), previous: asked.previous(of: cut.slice), first: asked.first,
      items: (0..<posts.count).map { index in
        let post = posts.shownPost(at: index)
        return SyndicationItem(
          post, home: asked.home, page: asked.page(ofItem: post.id), naming: name)
      })
  }
}
