import Catalog
import Feed
import HTTPServer
import JSON
import System

/// A feed with listeners, and the events for them.
final class FeedWatch: Sendable {
  let feed: String

  private struct State {
    var newer: Cursor
    var version: StoreVersion
    /// The number of times that there was news.
    var announced = 0
    /// The event of the last news; empty before the first.
    var event: [UInt8] = []
    var hasEnded = false
    var listeners: [ObjectIdentifier: Listener] = [:]
  }

  /// A client, and what it has been told.
  private final class Listener: Sendable {
    private struct Weak: Sendable { weak var stream: ResponseStream? }
    let told = Monitor(Told())
    private let sink = Monitor(Weak())

    func attach(_ stream: ResponseStream) { sink.withLock { $0.stream = stream } }
    func wake() { sink.withLock { $0.stream }?.wake() }
  }

  private struct Told: Sendable {
    /// The value of `announced` when the client was last told; `nil` before the greeting.
    var announced: Int?
    var newer: Cursor?
  }

  private let state: Monitor<State>

  /// The time that a browser waits before it reconnects.
  private static let retryMilliseconds = 3000
  private static let heartbeat = Array(":\n\n".utf8)

  init(feed: String, newer: Cursor, asOf version: StoreVersion) {
    self.feed = feed
    state = Monitor(State(newer: newer, version: version))
  }

  /// The cursor to look above for news, and the version as of which nothing was above it.
  var place: (newer: Cursor, version: StoreVersion) {
    state.withLock { ($0.newer, $0.version) }
  }

  /// The number of times that there was news.
  var announced: Int { state.withLock { $0.announced } }

  /// Records that nothing is above this cursor now.
  ///
  /// - Parameter isNews: whether listeners are told.
  func move(to newer: Cursor, asOf version: StoreVersion, isNews: Bool) {
    let event = isNews ? Self.event(feed: feed, newer: newer) : nil
    let listeners = state.withLock { state -> [Listener] in
      state.newer = newer
      state.version = version
      guard let event else { return [] }
      state.announced += 1
      state.event = event
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.wake() }
  }

  /// Ends all streams, as the feed is gone or the server stops.
  func end() {
    let listeners = state.withLock { state in
      state.hasEnded = true
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.wake() }
  }

  /// The stream of a new client.
  ///
  /// - Parameters:
  ///   - newer: the cursor above which nothing was when the client came.
  ///   - count: `announced` before that: later announcements may be news for the client.
  ///   - isBehind: whether the client has news to receive at once.
  func stream(
    from newer: Cursor, after count: Int, isBehind: Bool, onEnd: @escaping @Sendable () -> Void
  ) -> ResponseStream {
    let listener = Listener()
    let id = ObjectIdentifier(listener)
    state.withLock { $0.listeners[id] = listener }
    let stream = ResponseStream(
      next: { [self] isIdle in
        next(listener, from: newer, after: count, isBehind: isBehind, isIdle: isIdle)
      },
      onEnd: { [self] in
        state.withLock { $0.listeners[id] = nil }
        onEnd()
      })
    listener.attach(stream)
    return stream
  }

  private func next(
    _ listener: Listener, from start: Cursor, after count: Int, isBehind: Bool, isIdle: Bool
  ) -> [UInt8]? {
    let (newer, announced, event, hasEnded) = state.withLock {
      ($0.newer, $0.announced, $0.event, $0.hasEnded)
    }
    if hasEnded { return nil }
    return listener.told.withLock { told in
      guard let before = told.announced else {
        let hasMore = announced > count && newer != start
        told = Told(announced: announced, newer: hasMore ? newer : start)
        return Self.greeting(newer: start)
          + (isBehind ? Self.event(feed: feed, newer: start) : []) + (hasMore ? event : [])
      }
      defer { told = Told(announced: announced, newer: newer) }
      if announced > before, told.newer != newer { return event }
      return isIdle ? Self.heartbeat : []
    }
  }

  /// The client's position, so that it continues from there when it reconnects: a block without data is not an
  /// event.
  private static func greeting(newer: Cursor) -> [UInt8] {
    Array("retry: \(retryMilliseconds)\nid: \(newer.text)\n\n".utf8)
  }

  private static func event(feed: String, newer: Cursor) -> [UInt8] {
    var data = JSONWriter()
    data.object { data in
      data.member("feed", feed)
      data.member("newer", newer.text)
    }
    return Array("event: newer\nid: \(newer.text)\ndata: ".utf8) + data.bytes + Array("\n\n".utf8)
  }
}
