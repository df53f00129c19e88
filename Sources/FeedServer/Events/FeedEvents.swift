import Catalog
import Feed
import HTTP
import HTTPServer
import Observability
import System

/// Tells clients that a feed has something newer than what they know: server-sent events (HTML Living
/// Standard section 9.2), so that nobody has to poll.
///
/// Theory of operation. One thread looks at where the store is in its history, often and for next to nothing.
/// Where that has moved, it asks for each feed that somebody listens to whether anything stands above the
/// last `newer` cursor. Where something does, the listeners of that feed are woken, and each connection
/// fetches the event, which was written once. A client that takes nothing misses no news: the next event
/// that it takes says the same.
final class FeedEvents: Sendable {
  private struct State {
    var watches: [ByteText: FeedWatch] = [:]
    /// How many clients have each watch: those that are about to listen among them.
    var members: [ObjectIdentifier: Int] = [:]
    var listeners = 0
    /// A watch has come that nobody has looked at: what changed while it was made may be missing in it.
    var hasNewWatch = false
    var isEnding = false

    /// Who comes from now on gets another watch.
    mutating func forget(_ watch: FeedWatch) {
      if watches[watch.feed] === watch { watches[ByteText(watch.feed)] = nil }
    }
  }

  private let store: any FeedStore & PolicyStore
  /// How many clients may listen at once.
  private let maximumListeners: Int
  /// How often the store is looked at.
  private let lookMilliseconds: Int
  private let state = Monitor(State())

  init(store: any FeedStore & PolicyStore, maximumListeners: Int, lookMilliseconds: Int) {
    self.store = store
    self.maximumListeners = maximumListeners
    self.lookMilliseconds = lookMilliseconds
  }

  func register(in registry: PrometheusRegistry) {
    registry.gauge(
      "lookahead_event_listeners", help: "Clients that listen for newer items of a feed."
    ) { self.state.withLock { $0.listeners } }
  }

  // MARK: Listening

  /// What a client gets that listens to a feed from now on. For threads that may wait.
  ///
  /// - Parameter isBehind: whether there is news for the client at once.
  /// - Throws: `FeedError` where there is no such feed, `Problem` 503 where too many listen, and what
  ///   `isBehind` throws.
  func listen(to feed: String, isBehind: () throws -> Bool) throws -> ResponseStream {
    let count = state.withLock { $0.watches[feed] }?.announced ?? 0
    let newer = try newerCursor(of: feed)
    // Asked last: what comes meanwhile is news by this, and what comes later by the watch.
    let isBehind = try isBehind()
    let watch = try state.withLock { state throws(Problem) in
      guard !state.isEnding, state.listeners < maximumListeners else {
        throw Problem(.overloaded, .serviceUnavailable, "Too many clients listen for events.")
      }
      state.listeners += 1
      let watch = state.watches[feed] ?? FeedWatch(feed: feed, newer: newer)
      if state.watches[feed] == nil { state.hasNewWatch = true }
      state.watches[ByteText(feed)] = watch
      state.members[ObjectIdentifier(watch), default: 0] += 1
      return watch
    }
    state.notify()
    return watch.stream(from: newer, after: count, isBehind: isBehind) { [weak self] in
      self?.leave(watch)
    }
  }

  private func leave(_ watch: FeedWatch) {
    state.withLock { state in
      state.listeners -= 1
      let left = (state.members[ObjectIdentifier(watch)] ?? 1) - 1
      state.members[ObjectIdentifier(watch)] = left == 0 ? nil : left
      if left == 0 { state.forget(watch) }
    }
  }

  private func newerCursor(of feed: String) throws -> Cursor {
    try store.cut(PageQuery(feed: feed, limit: 1)).slice.newer
  }

  /// Whether the feed has something that stands above a `newer` cursor. Where nothing is known any more of the
  /// ranking that the cursor is of, it has.
  func hasNewer(_ feed: String, than cursor: Cursor) throws -> Bool {
    do {
      return try store.cut(PageQuery(feed: feed, start: .before(cursor), limit: 1)).slice.count > 0
    } catch FeedError.unknownRanking, FeedError.expiredRanking {
      return true
    }
  }

  // MARK: Looking

  /// Looks until `stop()`; on a thread of its own.
  func run() {
    var seen: StoreVersion?
    while true {
      // Nobody listens most of the time.
      let isEnding = state.wait { state in
        state.isEnding ? true : state.watches.isEmpty ? nil : false
      }
      if isEnding { return }
      let version = store.version
      let isNew = state.withLock { state in
        defer { state.hasNewWatch = false }
        return state.hasNewWatch
      }
      if seen != version || isNew {
        seen = version
        for watch in state.withLock({ Array($0.watches.values) }) { look(at: watch) }
      }
      _ = state.wait(atMostMilliseconds: lookMilliseconds) { $0.isEnding ? true : nil }
    }
  }

  /// Ends every stream, and lets no other begin.
  func stop() {
    let watches = state.withLock { state in
      state.isEnding = true
      return Array(state.watches.values)
    }
    state.notify()
    for watch in watches { watch.end() }
  }

  private func look(at watch: FeedWatch) {
    do {
      let hasNews = try hasNewer(watch.feed, than: watch.newer)
      let newer = try newerCursor(of: watch.feed)
      if hasNews { watch.announce(newer) } else { watch.newer = newer }
    } catch FeedError.unknownFeed {
      state.withLock { $0.forget(watch) }
      watch.end()
    } catch {
      // The store says nothing now; what is newer is newer still when it does.
    }
  }
}
