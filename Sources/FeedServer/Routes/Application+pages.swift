import Catalog
import Feed
import HTTP
import HTTPServer
import JSON
import Prefetch

// MARK: What is read

extension Application {
  /// Answers a page's request that came before, without reading it anew, if the page has not changed
  /// since; false where it has, or is not at hand.
  func answerReadyPage(_ request: Request, _ text: RequestText, _ responder: Responder) -> Bool {
    guard request.method == .get || request.method == .head, !request.fields.contains("Prefer"),
      let ready = readyPage(text)
    else { return false }
    do {
      try admit(request, responder)
      responder.respond(try ready.variant.answer(to: request))
    } catch {
      let route = Route.allCases.first { $0.path == ready.variant.whole.route }
      Call(
        request: request, text: text, responder: responder, route: route, timing: nil,
        logger: logger
      ).refuse(error)
    }
    return true
  }

  private func readyPage(_ text: RequestText) -> ReadyPage? {
    if let ready = pages.find(text), ready.isCurrent(in: store) {
      pages.noteHit()
      return ready
    }
    return pageFile.find(text, in: store)
  }

  /// A page is answered at once where the store has it at hand, and by a worker where it has to load
  /// or compare rankings first.
  func page(_ path: [String: String], _ parameters: Parameters, _ call: Call) throws {
    guard let feed = path["feed"] ?? parameters["feed"] else {
      throw ParameterError(parameter: "feed", problem: "is missing: it names the feed to read")
    }
    let text = PageText(
      feed: feed, isCompact: call.route == .compactPage, parameters: parameters,
      fields: call.request.fields)
    let snapshot = try store.snapshot()
    let asked = try text.request(snapshot.policyBook.networks)
    let key = asked.key(try encoding.coding(for: call.request))
    if let ready = pages.find(key, for: call.text), ready.isCurrent(in: store) {
      pages.noteHit()
      return call.respond(try ready.variant.answer(to: call.request))
    }
    if snapshot.isAtHand(asked.query) {
      return try makePage(text, asked, snapshot, key.coding, call)
    }
    let isTaken = workers.run {
      call.attempt { try makePage(text, asked, snapshot, key.coding, call) }
    }
    guard isTaken else {
      throw Problem(.overloaded, .serviceUnavailable, "Too many requests wait for the database.")
    }
  }

  private func makePage(
    _ text: PageText, _ asked: PageRequest, _ snapshot: any StoreSnapshot,
    _ coding: ContentCoding, _ call: Call
  ) throws {
    pages.noteMiss()
    let page = try assembler.assemble(text, asked, snapshot, call.timing)
    var representation = Representation(page.json, caching: caching.pages)
    representation.varyingFields = page.asked.varyingFields
    if let next = page.links.next { representation.links.append(("next", next)) }
    if let previous = page.links.previous { representation.links.append(("prev", previous)) }
    try answer(representation, in: coding, to: call) { variant in
      let fits =
        pageFile.contains(call.text)
        || pages.admits(call.text, bytes: variant.whole.bodyLength)
      guard fits || pageFile.admits(call.text) else { return }
      let ready = ReadyPage(
        variant.prepared(route: call.route?.path ?? ""), feed: page.cut.feed.name,
        posts: page.cut.posts, asOf: page.version)
      if fits {
        pages.insert(ready, key: page.asked.key(coding), for: call.text)
      } else {
        _ = assembler.source.writers.run { pageFile.keep(ready, for: call.text) }
      }
    }
  }

  func item(_ id: String, _ parameters: Parameters, _ call: Call) throws -> Representation {
    let snapshot = try store.snapshot()
    let book = snapshot.policyBook
    let network = try NetworkChoice(parameters, call.request.fields, book.networks)
    let feed = parameters["feed"]
    if let feed, !snapshot.hasFeed(named: feed) { throw FeedError.unknownFeed(feed) }
    guard let item = try call.timing.measure("read", { try store.item(withID: id) }) else {
      throw FeedError.unknownItem(id)
    }
    var writer = JSONWriter(capacity: 1024)
    writer.item(
      item, book.policy(feed: feed, network: network.profile).hint(for: ItemLoad(item.post)))
    var representation = Representation(writer.bytes, caching: caching.pages)
    representation.version = ItemVersion(item).text
    representation.varyingFields = network.varyingFields
    return representation
  }

  func feeds(_ parameters: Parameters, _ call: Call) throws {
    let asked = try FeedListRequest(parameters)
    try whenWhole(call) {
      let page = try store.feeds(asked.query)
      let links = FeedListLinks(page, asked)
      var writer = JSONWriter(capacity: 1024)
      writer.feeds(page, links)
      var representation = Representation(writer.bytes, caching: caching.pages)
      representation.links = links.targets
      return representation
    }
  }

  func feed(_ name: String, _ call: Call) throws {
    try whenWhole(call) { try feed(name) }
  }

  /// What is said of feeds is said at once; but while the store is still being read, by a worker, which
  /// may have to wait for that.
  private func whenWhole(
    _ call: Call, _ representation: @escaping @Sendable () throws -> Representation
  ) throws {
    if try store.snapshot().isWhole { return answer(try representation(), to: call) }
    let isTaken = workers.run { call.attempt { answer(try representation(), to: call) } }
    guard isTaken else {
      throw Problem(.overloaded, .serviceUnavailable, "Too many requests wait for the database.")
    }
  }

  private func feed(_ name: String) throws -> Representation {
    guard let feed = try store.feed(named: name) else { throw FeedError.unknownFeed(name) }
    var writer = JSONWriter()
    writer.feed(feed)
    var representation = Representation(writer.bytes, caching: caching.pages)
    representation.version = FeedVersion(StoredFeed(name: feed.name, title: feed.title)).text
    return representation
  }

  func networks(feed: String?) throws -> Representation {
    let snapshot = try store.snapshot()
    if let feed, !snapshot.hasFeed(named: feed) { throw FeedError.unknownFeed(feed) }
    let book = snapshot.policyBook
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
