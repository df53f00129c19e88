import Catalog
import Feed
import HTTP
import JSON
import PostJSON
import Prefetch

/// Answers with an item, with the hint for the client's network.
struct ItemHandler: RouteHandler {
  let store: any FeedStore & PolicyStore
  let encoding: BodyEncoding
  let caching: CachePolicy.Directive
  let linking: MediaLinking

  func answer(_ call: Call) throws {
    let (id, feed) = (call.segment("id"), call.parameters["feed"])
    let snapshot = try store.snapshot()
    let book = snapshot.policyBook
    let network = try NetworkChoice(call.parameters, call.request.fields, book.networks)
    if let feed, !snapshot.hasFeed(named: feed) { throw FeedError.unknownFeed(feed) }
    let policy = book.policy(feed: feed, network: network.profile)
    let start = call.timing.begin()
    store.item(withID: id) { [encoding, caching, links = linking.links] item in
      call.timing.end(.read, start)
      call.attempt {
        guard let item = try item.get(), item.isVisible else { throw FeedError.unknownItem(id) }
        let flat = FlatPosts(item.post, truths: item.truths, survival: item.survival)
        var writer = JSONWriter(capacity: 1024)
        writer.item(
          flat, at: 0, in: item.placements, naming: links.names,
          hint: policy.hint(for: ItemLoad(flat, at: 0), on: network.profile))
        var representation = Representation(writer.bytes, caching: caching)
        representation.version = ItemVersion(item).text
        representation.varyingFields = network.varyingFields
        representation.cacheKeys = .these(CacheKey.ofItem(item))
        encoding.answer(representation, to: call)
      }
    }
  }
}

/// Answers with an item's record as its writer sent it: without what the server learned about its files.
/// While its schedule hides an item, only writers get it.
struct RecordHandler: RouteHandler {
  let store: any FeedStore
  let encoding: BodyEncoding
  let caching: CachePolicy.Directive

  func answer(_ call: Call) {
    let id = call.segment("id")
    store.item(withID: id) { [encoding, caching] item in
      call.attempt {
        guard let item = try item.get() else { throw FeedError.unknownItem(id) }
        let isVisible = item.isVisible
        if !isVisible, (try? call.head.writer?.get()) == nil { throw FeedError.unknownItem(id) }
        let record = SeedRecord.post(item.post, placements: item.placements)
        var representation = Representation(record.json, caching: isVisible ? caching : .none)
        representation.version = ItemVersion(item).text
        encoding.answer(representation, to: call)
      }
    }
  }
}

extension StoredItem {
  /// Whether its schedule makes it visible now.
  var isVisible: Bool {
    !post.hasSchedule || post.visibility(at: NextMoment.now) == .visible
  }
}
