import Feed
import HTTP
import HTTPServer
import JSON
import Prefetch
import Sockets

// MARK: What is read

extension Application {
  /// A page is answered at once where the store has it at hand, and by a worker where it has to load
  /// or compare rankings first.
  func page(_ path: [String: String], _ parameters: Parameters, _ call: Call) throws {
    let book = try store.policyBook()
    guard let feed = path["feed"] ?? parameters["feed"] else {
      throw ParameterError(parameter: "feed", problem: "is missing: it names the feed to read")
    }
    let asked = try PageRequest(feed: feed, parameters, call.request.fields, book.networks)
    if store.isAtHand(asked.query) {
      return answer(try represent(asked, book, call), to: call)
    }
    let isTaken = workers.run {
      do {
        // The worker compresses as well: another wait would be no use.
        let representation = try represent(asked, book, call)
        call.answer { try encoding.encodedAnswer(representation, to: call.request) }
      } catch {
        call.refuse(error)
      }
    }
    guard isTaken else {
      throw Problem(.overloaded, .serviceUnavailable, "Too many requests wait for the database.")
    }
  }

  private func represent(_ asked: PageRequest, _ book: PolicyBook, _ call: Call) throws
    -> Representation
  {
    let start = MonotonicClock.nanoseconds
    let page = try call.timing.measure("read") { try store.page(asked.query) }
    figures.reads.recordNanoseconds(Int64(MonotonicClock.nanoseconds - start))
    return call.timing.measure("encode") { represent(page, asked, book, call.route) }
  }

  private func represent(
    _ page: FeedPage, _ asked: PageRequest, _ book: PolicyBook, _ route: Route?
  ) -> Representation {
    func link(_ query: String) -> String {
      route == .compactPage
        ? "/rp/?feed=\(PercentEncoding.encode(asked.query.feed, for: .queryValue))&\(query)"
        : "/v1/feeds/\(PercentEncoding.encode(asked.query.feed, for: .pathSegment))/items?\(query)"
    }
    let links = (
      next: page.slice.next.map { link(asked.nextQuery(after: $0.text)) },
      previous: page.slice.previous.map { link(asked.previousQuery(before: $0.text)) }
    )
    let document = PageDocument(
      page: page,
      policy: book.policy(feed: asked.query.feed, network: asked.network.profile),
      network: asked.network.profile, bounds: asked.bounds, links: links)
    var representation = Representation(document.json, caching: caching.pages)
    representation.varyingFields = asked.varyingFields
    representation.links = [("next", links.next), ("prev", links.previous)].compactMap {
      name, link in
      link.map { (relation: name, target: $0) }
    }
    return representation
  }

  func item(_ id: String, _ parameters: Parameters, _ call: Call) throws -> Representation {
    let book = try store.policyBook()
    let network = try NetworkChoice(parameters, call.request.fields, book.networks)
    guard let item = try call.timing.measure("read", { try store.item(withID: id) }) else {
      throw FeedError.unknownItem(id)
    }
    var writer = JSONWriter(capacity: 1024)
    writer.item(
      item.post, book.policy(feed: nil, network: network.profile).hint(for: item.post),
      placements: item.placements)
    var representation = Representation(writer.bytes, caching: caching.pages)
    representation.version = ItemVersion(item).text
    representation.varyingFields = network.varyingFields
    return representation
  }

  func feeds() throws -> Representation {
    let feeds = try store.feeds()
    var writer = JSONWriter(capacity: 1024)
    writer.object { writer in
      writer.key("feeds")
      writer.array { writer in
        for feed in feeds { writer.feed(feed) }
      }
    }
    return Representation(writer.bytes, caching: caching.pages)
  }

  func feed(_ name: String) throws -> Representation {
    guard let feed = try store.feed(named: name) else { throw FeedError.unknownFeed(name) }
    var writer = JSONWriter()
    writer.feed(feed)
    return Representation(writer.bytes, caching: caching.pages)
  }

  func networks(feed: String?) throws -> Representation {
    if let feed, try store.feed(named: feed) == nil { throw FeedError.unknownFeed(feed) }
    let book = try store.policyBook()
    var writer = JSONWriter(capacity: 4096)
    writer.object { writer in
      writer.member("feed", feed)
      writer.key("networks")
      writer.array { writer in
        for network in book.networks {
          writer.network(network, book.policy(feed: feed, network: network))
        }
      }
      writer.key("feedsWithPolicies")
      writer.array { writer in
        for feed in book.feeds { writer.string(feed) }
      }
    }
    return Representation(writer.bytes, caching: caching.pages)
  }
}
