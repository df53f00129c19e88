import Catalog
import Feed
import HTTP
import HTTPServer
import Observability
import System

/// Tells clients that a feed has something newer than what they know, by server-sent events (HTML Living
/// Standard section 9.2), so that clients need not poll.
///
/// Theory of operation. One thread reads the store's version, often and at almost no cost. When the version
/// has changed, the thread asks for each feed with listeners whether it has changed, and for a changed feed
/// whether anything is above the last `newer` cursor. If so, it wakes the listeners of that feed, and each
/// connection fetches the event, which is written once. A client that does not read misses no news: the next
/// event that it reads says the same.
///
/// The event loop that receives a request admits the client. Slow cases, which compare a ranking with
/// another, have a thread of their own. Its queue has room for as many clients as may listen: a browser that
/// is refused does not reconnect.
final class FeedEvents: Sendable {
  /// The position that a client gives.
  enum Position: Sendable {
    /// None: the client hears of what comes from now on.
    case now
    /// The client has seen everything up to this `newer` cursor.
    case seen(Cursor)
    /// The client reconnects with the last cursor that it received; `nil` if what it sends is not a cursor.
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
    /// The number of clients of each watch, including those that are about to listen.
    var members: [ObjectIdentifier: Int] = [:]
    var listeners = 0
    /// Whether there is an unchecked new watch: it may miss what changed while it was created.
    var hasNewWatch = false
    var isEnding = false

    /// Removes the watch: later clients get another one.
    mutating func forget(_ watch: FeedWatch) {
      if watches[watch.feed] === watch { watches[ByteText(watch.feed)] = nil }
    }
  }

  private let store: any FeedStore & PolicyStore
  /// The maximum number of listeners.
  private let maximumListeners: Int
  /// The interval between reads of the store's version.
  private let lookMilliseconds: Int
  private let state = Monitor(State())
  /// The queue of clients that need the slow thread.
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

  /// Passes the stream of a new listener of a feed, or the error: `FeedError` if the feed does not exist or
  /// the position is not in it, `Problem` 503 if too many clients listen.
  ///
  /// - Parameter completion: called once, before this returns or on a thread that may wait.
  func listen(
    to feed: String, from position: Position,
    completion: @escaping @Sendable (Result<ResponseStream, any Error>) -> Void
  ) {
    do {
      // Read before the snapshot: later announcements may be news for the client.
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

  /// Whether the client can be admitted without loading or comparing anything.
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
    // A client that waited while the server ended gets the error at once.
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

  /// Whether the client has news to receive at once. A reconnecting browser is never refused, as it would
  /// then give up: a value that is not a cursor of this feed counts as behind.
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

  /// Whether the feed has something above a `newer` cursor; `true` if the ranking of the cursor is unknown or
  /// expired.
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

  /// Checks the watches until `stop()`; on a thread of its own.
  func run() {
    var seen: StoreVersion?
    while true {
      // Most of the time no client listens.
      let isEnding = state.wait { state in
        state.isEnding ? true : state.watches.isEmpty ? nil : false
      }
      if isEnding { return }
      look(unless: &seen)
      _ = state.wait(atMostMilliseconds: lookMilliseconds) { $0.isEnding ? true : nil }
    }
  }

  /// Checks all watches, unless the store's version is unchanged and no watch is new.
  func look(unless seen: inout StoreVersion?) {
    let version = store.version
    let watches = state.withLock { state -> [FeedWatch] in
      guard seen != version || state.hasNewWatch else { return [] }
      state.hasNewWatch = false
      return Array(state.watches.values)
    }
    guard seen != version || !watches.isEmpty else { return }
    seen = version
    // The next look asks again for what the store could not say.
    for watch in watches where !look(at: watch) { seen = nil }
  }

  /// Ends every stream, and prevents new ones.
  func stop() {
    let watches = state.withLock { state in
      state.isEnding = true
      return Array(state.watches.values)
    }
    state.notify()
    for watch in watches { watch.end() }
    arrivals.wait()
  }

  /// - Returns: `false` if the store could not say what is new.
  private func look(at watch: FeedWatch) -> Bool {
    // Read first: the next look finds what is written after this.
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
