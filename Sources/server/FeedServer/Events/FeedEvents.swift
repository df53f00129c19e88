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
/// Where that has moved, it asks for each feed that somebody listens to whether it has changed, and of one that
/// has whether anything stands above the last `newer` cursor. Where something does, the listeners of that feed
/// are woken, and each connection fetches the event, which was written once. A client that takes nothing misses
/// no news: the next event that it takes says the same.
///
/// Who comes is let in on the event loop that asks. What takes long, a ranking that has to be compared with
/// another, has a thread of its own, on which as many may wait as may listen: a browser that is refused does not
/// come back.
final class FeedEvents: Sendable {
  /// Where a client says that it is.
  enum Position: Sendable {
    /// It does not: it hears of what comes from now on.
    case now
    /// It has seen what there is up to this `newer` cursor.
    case seen(Cursor)
    /// It comes back with what it was told last; nil where that is no cursor.
    case returning(Cursor?)

    fileprivate var cursor: Cursor? {
      switch self {
      case .now: nil
      case .seen(let cursor): cursor
      case .returning(let cursor): cursor
      }
    }
  }

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
  /// Where those wait who are not let in at once.
  private let arrivals: WorkerPool

  init(store: any FeedStore & PolicyStore, maximumListeners: Int, lookMilliseconds: Int) {
    self.store = store
    self.maximumListeners = maximumListeners
    self.lookMilliseconds = lookMilliseconds
    arrivals = WorkerPool(threads: 1, limit: maximumListeners)
  }

  func register(in registry: PrometheusRegistry) {
    registry.gauge(
      "lookahead_event_listeners", help: "Clients that listen for newer items of a feed."
    ) { self.state.withLock { $0.listeners } }
  }

  // MARK: Listening

  /// Hands out what a client gets that listens to a feed from now on, or why it gets nothing: `FeedError` where
  /// there is no such feed, or the position is none of it, `Problem` 503 where too many listen.
  ///
  /// - Parameter completion: called once, before this returns or on a thread that may wait.
  func listen(
    to feed: String, from position: Position,
    completion: @escaping @Sendable (Result<ResponseStream, any Error>) -> Void
  ) {
    do {
      // Before the snapshot: what is announced from here on may be news for the client.
      let count = state.withLock { $0.watches[feed] }?.announced ?? 0
      let snapshot = try store.snapshot()
      if Self.isAtHand(feed, position, in: snapshot) {
        return completion(Result { try stream(of: feed, position, in: snapshot, after: count) })
      }
      let isTaken = arrivals.run { [self] in
        completion(Result { try stream(of: feed, position, in: store.snapshot(), after: count) })
      }
      guard isTaken else { throw Self.tooMany }
    } catch {
      completion(.failure(error))
    }
  }

  private static var tooMany: Problem {
    Problem(.overloaded, .serviceUnavailable, "Too many clients listen for events.")
  }

  /// Nothing has to be loaded or compared to let the client in.
  private static func isAtHand(
    _ feed: String, _ position: Position, in snapshot: any StoreSnapshot
  ) -> Bool {
    guard snapshot.isAtHand(PageQuery(feed: feed, limit: 1)) else { return false }
    guard let cursor = position.cursor else { return true }
    return snapshot.isAtHand(PageQuery(feed: feed, start: .before(cursor), limit: 1))
  }

  private func stream(
    of feed: String, _ position: Position, in snapshot: any StoreSnapshot, after count: Int
  ) throws -> ResponseStream {
    // Whoever waited while the server ended is told so at once.
    guard !state.withLock({ $0.isEnding }) else { throw Self.tooMany }
    let newer = try Self.newer(of: feed, in: snapshot)
    let isBehind = try Self.isBehind(position, feed, in: snapshot)
    let watch = try state.withLock { state throws(Problem) in
      guard !state.isEnding, state.listeners < maximumListeners else { throw Self.tooMany }
      state.listeners += 1
      let watch =
        state.watches[feed] ?? FeedWatch(feed: feed, newer: newer, asOf: snapshot.version)
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

  private static func newer(of feed: String, in snapshot: any StoreSnapshot) throws -> Cursor {
    try snapshot.cut(PageQuery(feed: feed, limit: 1)).slice.newer
  }

  /// What a browser sends when it comes back is never refused, as it would then give up: what is no cursor of
  /// this feed is behind.
  private static func isBehind(
    _ position: Position, _ feed: String, in snapshot: any StoreSnapshot
  ) throws -> Bool {
    switch position {
    case .now: false
    case .seen(let cursor): try hasNewer(feed, than: cursor, in: snapshot)
    case .returning(nil): true
    case .returning(let cursor?): (try? hasNewer(feed, than: cursor, in: snapshot)) ?? true
    }
  }

  /// Whether the feed has something that stands above a `newer` cursor. Where nothing is known any more of the
  /// ranking that the cursor is of, it has.
  private static func hasNewer(
    _ feed: String, than cursor: Cursor, in snapshot: any StoreSnapshot
  ) throws -> Bool {
    do {
      let query = PageQuery(feed: feed, start: .before(cursor), limit: 1)
      return try snapshot.cut(query).slice.count > 0
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
      look(unless: &seen)
      _ = state.wait(atMostMilliseconds: lookMilliseconds) { $0.isEnding ? true : nil }
    }
  }

  /// Looks at all watches, unless the store is where it was and none of them is new.
  func look(unless seen: inout StoreVersion?) {
    let version = store.version
    let watches = state.withLock { state -> [FeedWatch] in
      guard seen != version || state.hasNewWatch else { return [] }
      state.hasNewWatch = false
      return Array(state.watches.values)
    }
    guard seen != version || !watches.isEmpty else { return }
    seen = version
    // What the store could not say is asked for the next time.
    for watch in watches where !look(at: watch) { seen = nil }
  }

  /// Ends every stream, and lets no other begin.
  func stop() {
    let watches = state.withLock { state in
      state.isEnding = true
      return Array(state.watches.values)
    }
    state.notify()
    for watch in watches { watch.end() }
    arrivals.wait()
  }

  /// - Returns: whether the store could say what is new.
  private func look(at watch: FeedWatch) -> Bool {
    // Asked for first: what is written after this is looked at the next time.
    let version = store.version
    let (newer, seen) = watch.place
    if store.isUnchanged(feed: watch.feed, posts: [], since: seen) {
      watch.move(to: newer, asOf: version, isNews: false)
      return true
    }
    do {
      let snapshot = try store.snapshot()
      let hasNews = try Self.hasNewer(watch.feed, than: newer, in: snapshot)
      let now = try Self.newer(of: watch.feed, in: snapshot)
      watch.move(to: now, asOf: snapshot.version, isNews: hasNews)
    } catch FeedError.unknownFeed {
      state.withLock { $0.forget(watch) }
      watch.end()
    } catch {
      return false
    }
    return true
  }
}
