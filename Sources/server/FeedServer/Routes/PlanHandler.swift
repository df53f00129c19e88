import Catalog
import Feed
import HTTP
import HTTPServer
import JSON
import PostJSON
import Prefetch

/// Tells a client that sends its state what to do next, and why: the engine for thin clients. The client
/// names items by their ids; the store adds the known facts about their files. The server stores nothing.
struct PlanHandler: RouteHandler {
  let store: any FeedStore & PolicyStore
  let workers: RequestWorkers
  let figures: ApplicationFigures
  /// The learned watch times, for items without a curve of their own.
  let learner: WatchLearner
  let encoding: BodyEncoding

  func answer(_ call: Call) throws {
    try BodyType.record.check(call.request.fields)
    let request = try PlanRequest(body: call.request.body)
    let snapshot = try store.snapshot()
    if let feed = request.feed, !snapshot.hasFeed(named: feed) {
      throw Problem(FeedError.unknownFeed(feed), field: "feed")
    }
    let policy = try request.policy(in: snapshot.policyBook)
    // Reads as many items as the state names.
    try workers.run(for: call) {
      call.attempt {
        var moment = request.snapshot
        moment.policy = policy
        moment.items = try request.itemIDs.enumerated().map { index, id in
          guard let item = try store.item(withID: id), item.isVisible else {
            throw Problem(FeedError.unknownItem(id), field: "items[\(index)]")
          }
          var known = PrefetchItem(
            id: id, load: ItemLoad(FlatPosts(item.post, truths: item.truths), at: 0))
          known.survival =
            item.survival.map { [WatchPoint](json: $0) }
            ?? known.media.first.map { learner.survival(of: $0.files[0].load) } ?? []
          return known
        }
        var engine = PrefetchEngine(moment)
        let actions = engine.decide()
        if request.hasJustArrived { note(engine, moment) }
        var writer = JSONWriter(capacity: 2048)
        writer.object { writer in
          writer.member("at", moment.atMilliseconds)
          writer.key("actions")
          writer.actions(actions)
        }
        encoding.answer(Representation(writer.bytes, caching: .none), to: call)
      }
    }
  }

  /// Counts an item that a user has come to, and whether it had to show a loader by the state. For an item
  /// without files, whose page another program shows, no loader is counted.
  private func note(_ engine: PrefetchEngine, _ moment: PrefetchSnapshot) {
    let active = moment.items.first { $0.id.utf8.elementsEqual((moment.active ?? "").utf8) }
    let hasFiles = active.map { $0.media.first?.files.first?.key != $0.id } ?? false
    figures.notePlan(
      strategy: moment.policy.strategy.name,
      imageLoader: hasFiles && engine.counts.imageLoaders > 0,
      videoLoader: hasFiles && engine.counts.videoLoaders > 0)
  }
}

extension Problem {
  /// The problem with this field of a state.
  fileprivate init(_ error: FeedError, field: String) {
    self.init(error as any Error)
    self.field = field
  }
}

extension PlanRequest {
  /// The state in the body.
  ///
  /// - Throws: `Problem` 422, naming the field.
  fileprivate init(body: [UInt8]) throws {
    do throws(RecordError) {
      try self.init(body: body, byID: true)
    } catch {
      var problem = Problem(
        .invalidRecord, .unprocessableContent, "The state is refused: \(error).")
      problem.field = error.field
      throw problem
    }
  }

  /// The policy that decides: the one in force for the feed on the client's network, with the state's
  /// strategy if it names one.
  fileprivate func policy(in book: PolicyBook) throws -> Policy {
    let query: NetworkQuery =
      downlinkKbps == nil && roundTripMilliseconds == nil
      ? .unknown
      : .measured(downlinkKbps: downlinkKbps, roundTripMilliseconds: roundTripMilliseconds)
    guard let network = book.networks.profile(for: query) else { return snapshot.policy }
    var policy = book.policy(feed: feed, network: network, arm: arm)
    if let itemsPerMinute { policy.itemsPerMinute = itemsPerMinute }
    if let strategy { policy.strategy = strategy }
    return policy
  }
}
