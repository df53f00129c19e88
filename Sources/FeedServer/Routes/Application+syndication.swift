import Catalog
import Feed
import FeedFormats
import HTTP

// MARK: Feeds for readers of feeds

extension Application {
  /// A page of a feed as a JSON Feed or RSS, with absolute URLs; made anew for whoever asks, on a worker.
  func syndicate(_ feed: String, _ route: Route, _ parameters: Parameters, _ call: Call) throws {
    let home = try hosts.home(forHost: call.request.host, at: call.responder.localAddress)
    let asked = try SyndicationRequest(feed: feed, route: route, parameters, home: home)
    let isTaken = workers.run {
      call.attempt {
        let page = try syndicationPage(asked)
        feedRequests.note(feed)
        var representation = Representation(
          route == .rss ? page.rss : page.jsonFeed, route == .rss ? .rss : .jsonFeed,
          caching: caching.pages)
        representation.cacheKeys = .page(feed: feed)
        representation.links = .ofPage(next: page.next, previous: page.previous)
        encoding.answer(representation, to: call)
      }
    }
    guard isTaken else {
      throw Problem(.overloaded, .serviceUnavailable, "Too many requests wait for the database.")
    }
  }

  private func syndicationPage(_ asked: SyndicationRequest) throws -> SyndicationPage {
    let (cut, posts) = try store.pagePosts(asked.query)
    let links = linking.links
    func name(_ url: String) -> String {
      let bytes = Array(url.utf8)
      let named = links.name(of: bytes.span, version: nil)?.url
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
