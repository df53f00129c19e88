import Catalog
import Feed
import HTTP
import HTTPServer
import JSON
import PostJSON

/// The records of all items, newest first; or of one feed, in its order; or of the items that contain a text
/// or that their schedules hide, of all feeds or one, newest first. For writers: each record has the tag for
/// conditional writes.
///
/// A page examines a fixed number of items, however many of them pass the filter: so its cost is bounded, and
/// it may be short or empty although others follow.
struct ItemListHandler: RouteHandler {
  static let parameters = [
    "q", "feed", "type", "publishedFrom", "publishedBefore", "visibility", "limit", "after",
  ]
  private static let limits = 1...100
  private static let defaultLimit = 30
  /// The number of items that a page examines.
  private static let looks = 2_000
  /// The number of items of a feed that are read at a time.
  private static let portion = 100

  let store: any FeedStore
  let workers: RequestWorkers
  let encoding: BodyEncoding

  func answer(_ call: Call) throws {
    _ = try call.writer()
    let query = try Query(call.parameters)
    try workers.run(for: call) {
      call.attempt { encoding.answer(representation(of: try page(query), query), to: call) }
    }
  }

  /// The parsed parameters.
  private struct Query {
    /// The start of the page.
    enum Start {
      case all(below: Int64?)
      case feed(String, PageQuery.Start)
    }

    let start: Start
    var filter = ItemFilter()
    let limit: Int
    /// The parameters except `after`, as links repeat them.
    let link: String

    init(_ parameters: Parameters) throws {
      limit =
        try parameters.number("limit", in: ItemListHandler.limits) ?? ItemListHandler.defaultLimit
      filter.type = try parameters["type"].map { text in
        guard let type = PostType(rawValue: text) else {
          let known = PostType.allCases.map(\.rawValue).joined(separator: ", ")
          throw ParameterError(
            parameter: "type", problem: "is \"\(text.prefix(40))\", not one of \(known)")
        }
        return type
      }
      filter.publishedFrom = try Self.time("publishedFrom", parameters)
      filter.publishedBefore = try Self.time("publishedBefore", parameters)
      if let text = parameters["q"] {
        do throws(TextQueryError) {
          filter.text = try TextQuery(text)
        } catch {
          throw ParameterError(parameter: "q", problem: error.description)
        }
      }
      filter.visibility = try parameters["visibility"].map { text in
        guard let visibility = Visibility(rawValue: text), visibility != .visible else {
          throw ParameterError(
            parameter: "visibility",
            problem: "is \"\(text.prefix(40))\", not scheduled or ended")
        }
        return visibility
      }
      let isInOrder = filter.text == nil && filter.visibility == nil
      if !isInOrder { filter.feed = parameters["feed"] }
      let after = parameters["after"]
      do throws(CursorTextError) {
        if let feed = parameters["feed"], isInOrder {
          var first = PageQuery.Start.top
          if let after { first = .after(try Cursor(text: after)) }
          start = .feed(feed, first)
        } else {
          var below: Int64?
          if let after { below = try ItemListCursor(text: after).number }
          start = .all(below: below)
        }
      } catch {
        throw CursorError(parameter: "after", cause: error)
      }
      let repeated = ItemListHandler.parameters.dropLast(2).compactMap { name in
        parameters[name].map { "&\(name)=\(PercentEncoding.encode($0, for: .queryValue))" }
      }
      link = "/v1/items?limit=\(limit)" + repeated.joined()
    }

    private static func time(_ name: String, _ parameters: Parameters) throws -> Timestamp? {
      guard let text = parameters[name] else { return nil }
      guard let time = try? Timestamp(rfc3339: text) else {
        throw ParameterError(
          parameter: name, problem: "is not an RFC 3339 time such as 2012-07-28T23:05:56Z")
      }
      return time
    }
  }

  private struct Page {
    var items: [StoredItem] = []
    /// The cursor of the next page; `nil` on the last page.
    var next: String?
  }

  private func page(_ query: Query) throws -> Page {
    switch query.start {
    case .all(let below):
      if let feed = query.filter.feed, try store.feed(named: feed) == nil {
        throw FeedError.unknownFeed(feed)
      }
      let found = try store.postNumbers(
        below: below, query.filter, limit: query.limit, looks: Self.looks)
      return Page(
        items: try store.items(found.numbers),
        next: found.end.map { ItemListCursor(number: $0).text })
    case .feed(let feed, let start): return try page(of: feed, from: start, query)
    }
  }

  private func page(of feed: String, from start: PageQuery.Start, _ query: Query) throws -> Page {
    var page = Page()
    var start = start
    for _ in 0..<Self.looks / Self.portion {
      let cut = try store.cut(PageQuery(feed: feed, start: start, limit: Self.portion))
      let items = try store.items(cut.slice.posts)
      let byID = Dictionary(
        items.map { (ByteText($0.post.id), $0) }, uniquingKeysWith: { first, _ in first })
      for (offset, entry) in cut.slice.entries.enumerated() {
        guard let item = byID[ByteText(entry.position.id)], query.filter.admits(item.post) else {
          continue
        }
        page.items.append(item)
        guard page.items.count == query.limit else { continue }
        let isLast = offset + 1 == cut.slice.count
        // The position after this item, in the same ranking.
        let here = cut.slice.newer.moved(
          to: .position(entry.position), in: .ranking(cut.slice.ranking))
        page.next = (isLast ? cut.slice.next : here)?.text
        return page
      }
      page.next = cut.slice.next?.text
      guard let next = cut.slice.next else { return page }
      start = .after(next)
    }
    return page
  }

  private func representation(of page: Page, _ query: Query) -> Representation {
    var writer = JSONWriter(capacity: 1024 * (page.items.count + 1))
    writer.object { writer in
      writer.array("items") { writer in
        for item in page.items {
          writer.object { writer in
            writer.member("etag", EntityTag(ItemVersion(item).text).description)
            if item.post.hasSchedule {
              writer.member("visibility", item.post.visibility(at: NextMoment.now).rawValue)
            }
            writer.key("record")
            writer.raw(SeedRecord.post(item.post, placements: item.placements).json)
          }
        }
      }
      writer.object("paging") { writer in
        writer.key("next")
        if let next = page.next { writer.string(next) } else { writer.null() }
        writer.object("links") { $0.member("next", page.next.map { query.link + "&after=" + $0 }) }
      }
    }
    return Representation(writer.bytes, caching: .none)
  }
}
