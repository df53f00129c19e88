import Catalog
import Feed
import HTTP
import Prefetch

/// A request for a page of a feed in a format that readers of feeds know, and the URLs that such a page names.
struct SyndicationRequest {
  static let parameters = ["limit", "after", "before"]

  let query: PageQuery
  /// By which URLs it names files.
  let links: MediaLinks
  /// Where this server is, with a slash at the end.
  let home: String
  private let path: String
  private let parameters: Parameters

  /// - Parameter home: what its URLs begin with, with a slash at the end.
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

  /// What its representation rests on beside the store.
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

  /// The document below a page; nil if there is none. The lower end of a gap stays where it is.
  func next(of slice: PageSlice) -> String? {
    let end = parameters["after"] == nil ? nil : parameters["before"]
    return slice.next.map { url([("after", $0.text)] + (end.map { [("before", $0)] } ?? [])) }
  }

  /// The document above a page; nil if there is none.
  func previous(of slice: PageSlice) -> String? {
    let end = parameters["before"] == nil ? nil : parameters["after"]
    return slice.previous.map { url((end.map { [("after", $0)] } ?? []) + [("before", $0.text)]) }
  }

  /// What this server says of an item.
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
