import Catalog
import Feed
import FeedFormats
import HTTP
import HTTPServer
import Prefetch

/// Answers with a page of a feed in a format for feed readers, with absolute URLs: from the cache, or else
/// made by a worker.
final class SyndicationHandler: RouteHandler {
  /// The format of the page.
  enum Format {
    case jsonFeed, rss

    var route: Route { self == .rss ? .rss : .jsonFeed }
    var type: ContentType { self == .rss ? .rss : .jsonFeed }
  }

  private let format: Format
  private let store: any FeedStore & PolicyStore
  private let hosts: AllowedHosts
  private let linking: MediaLinking
  private let encoding: BodyEncoding
  private let caching: CachePolicy.Directive
  private let kept: KeptPages
  private let workers: RequestWorkers
  private let requests: FeedRequests

  init(_ parts: HandlerParts, _ format: Format) {
    self.format = format
    let configuration = parts.configuration
    hosts = AllowedHosts(
      publicURL: configuration.publicURL, named: configuration.allowedHosts,
      listening: configuration.server.host)
    (store, linking) = (parts.store, parts.linking)
    (encoding, caching) = (parts.encoding, parts.caching.pages)
    (kept, workers, requests) = (parts.pages.kept, parts.workers, parts.feedRequests)
  }

  func answer(_ call: Call) throws {
    let home = try hosts.home(forHost: call.request.host, at: call.responder.localAddress)
    let asked = try SyndicationRequest(
      feed: call.segment("feed"), route: format.route, call.parameters, home: home, linking.links)
    let coding = try encoding.coding(for: call.request)
    // The text includes the host, which decides about the URLs and may not be allowed.
    let text = RequestText(
      call.request, expires: asked.links.expires, cacheSeconds: caching.secondsLeft, home: home)
    if let page = kept.find(asked.key(coding).kept(seconds: text.cacheSeconds), for: text) {
      return call.respond(try page.answer(to: call.request))
    }
    try workers.run(for: call) { [self] in
      call.attempt {
        // Another request may have made it meanwhile.
        if let page = kept.find(text) {
          return call.respond(try page.answer(to: call.request))
        }
        try make(asked, coding, text, call)
      }
    }
  }

  private func make(
    _ asked: SyndicationRequest, _ coding: ContentCoding, _ text: RequestText, _ call: Call
  ) throws {
    // Read before the posts: what is written meanwhile is checked when the page is requested again.
    let version = store.version
    let (cut, posts) = try store.pagePosts(asked.query)
    let page = page(asked, cut, posts)
    requests.note(cut.feed.name)
    var representation = Representation(
      format == .rss ? page.rss : page.jsonFeed, format.type, caching: caching)
    representation.cacheKeys = .page(feed: cut.feed.name)
    representation.links = .ofPage(next: page.next, previous: page.previous)
    let keep = { @Sendable [format, kept, requests] (variant: Variant) in
      kept.keep(
        text, asked.key(coding).kept(seconds: text.cacheSeconds), bodyBytes: variant.body.count,
        KeptPage(
          variant, route: format.route.path, feed: cut.feed.name, posts: cut.posts,
          asOf: min(version, cut.version), requests: requests))
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

/// A request for a page of a feed in a format for feed readers, with the URLs in such a page.
struct SyndicationRequest {
  static let parameters = ["limit", "after", "before"]

  let query: PageQuery
  /// The URLs by which it names files.
  let links: MediaLinks
  /// The URL of this server, with a slash at the end.
  let home: String
  private let path: String
  private let parameters: Parameters

  /// - Parameter home: the prefix of its URLs, with a slash at the end.
  /// - Throws: `ParameterError`, `CursorError`.
  init(
    feed: String, route: Route, _ parameters: Parameters, home: String, _ links: MediaLinks
  ) throws {
    self.links = links
    self.parameters = parameters
    self.home = home
    path = String(route.path.dropFirst()).replacing(
      "{feed}", with: PercentEncoding.encode(feed, for: .pathSegment))
    query = PageQuery(
      feed: feed, start: try PageRequest.start(parameters),
      limit: try parameters.number("limit", in: PageRequest.limits) ?? PageRequest.defaultLimit)
  }

  /// Everything that its representation depends on, besides the store.
  func key(_ coding: ContentCoding) -> PageKey {
    PageKey(
      form: .document(url: own), query: query, network: "", isNetworkNamed: false, savesData: nil,
      bounds: PlanBounds(), coding: coding, expires: links.expires)
  }

  /// The feed's first document.
  var first: String { url([]) }

  /// This document.
  var own: String {
    url(["after", "before"].compactMap { name in parameters[name].map { (name, $0) } })
  }

  /// The URL of the document below a page; `nil` if there is none. The lower end of a gap stays the same.
  func next(of slice: PageSlice) -> String? {
    let end = parameters["after"] == nil ? nil : parameters["before"]
    return slice.next.map { url([("after", $0.text)] + (end.map { [("before", $0)] } ?? [])) }
  }

  /// The URL of the document above a page; `nil` if there is none.
  func previous(of slice: PageSlice) -> String? {
    let end = parameters["before"] == nil ? nil : parameters["after"]
    return slice.previous.map { url((end.map { [("after", $0)] } ?? []) + [("before", $0.text)]) }
  }

  /// The URL of an item on this server.
  func page(ofItem id: String) -> String {
    home + "v1/items/" + PercentEncoding.encode(id, for: .pathSegment)
  }

  /// Cursors need no encoding.
  private func url(_ cursors: [(name: String, text: String)]) -> String {
    let limit = parameters["limit"].map { [("limit", $0)] } ?? []
    let query = (limit + cursors).map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    return home + path + (query.isEmpty ? "" : "?" + query)
  }
}
