import Feed
import HTTPServer
import JSON
import System

/// A feed that clients listen to, and what they are told.
final class FeedWatch: Sendable {
  let feed: String

  private struct State {
    var newer: Cursor
    /// How often there was news.
    var announced = 0
    /// The event of the last news; and of none.
    var event: [UInt8] = []
    var hasEnded = false
    var listeners: [ObjectIdentifier: Listener] = [:]
  }

  /// One client. What it has been told is known on its event loop alone, but for the first moment.
  private final class Listener: Sendable {
    private struct Weak: Sendable { weak var stream: ResponseStream? }
    let told: Monitor<Int>
    private let sink = Monitor(Weak())

    init(told: Int) { self.told = Monitor(told) }

    func attach(_ stream: ResponseStream) { sink.withLock { $0.stream = stream } }
    func wake() { sink.withLock { $0.stream }?.wake() }
  }

  private let state: Monitor<State>

  /// How long a browser waits before it connects anew.
  private static let retryMilliseconds = 3000
  private static let heartbeat = Array(":\n\n".utf8)
  /// Before the first one a client was told nothing, not even where it is.
  private static let untold = -1

  init(feed: String, newer: Cursor) {
    self.feed = feed
    state = Monitor(State(newer: newer))
  }

  /// What to ask for to see what is news now.
  var newer: Cursor {
    get { state.withLock { $0.newer } }
    set { state.withLock { $0.newer = newValue } }
  }

  var isDeserted: Bool { state.withLock { $0.listeners.isEmpty } }

  /// There is news; `newer` stands above it.
  func announce(_ newer: Cursor) {
    let event = Self.event(feed: feed, newer: newer)
    let listeners = state.withLock { state in
      state.newer = newer
      state.announced += 1
      state.event = event
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.wake() }
  }

  /// The feed is gone, or the server about to be.
  func end() {
    let listeners = state.withLock { state in
      state.hasEnded = true
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.wake() }
  }

  /// What one more client gets.
  ///
  /// - Parameter isBehind: whether there is news for it at once.
  func stream(isBehind: Bool, onEnd: @escaping @Sendable () -> Void) -> ResponseStream {
    let listener = Listener(told: Self.untold)
    let id = ObjectIdentifier(listener)
    let start = state.withLock { state in
      state.listeners[id] = listener
      return state.announced
    }
    let stream = ResponseStream(
      next: { [self] isIdle in
        next(listener, since: start, isBehind: isBehind, isIdle: isIdle)
      },
      onEnd: { [self] in
        state.withLock { $0.listeners[id] = nil }
        onEnd()
      })
    listener.attach(stream)
    return stream
  }

  private func next(
    _ listener: Listener, since start: Int, isBehind: Bool, isIdle: Bool
  ) -> [UInt8]? {
    let (newer, announced, event, hasEnded) = state.withLock {
      ($0.newer, $0.announced, $0.event, $0.hasEnded)
    }
    if hasEnded { return nil }
    let told = listener.told.withLock { told in
      defer { told = announced }
      return told
    }
    if told == Self.untold {
      let hasNews = isBehind || announced > start
      return Self.greeting(newer: newer)
        + (hasNews ? Self.event(feed: feed, newer: newer) : [])
    }
    if announced > told { return event }
    return isIdle ? Self.heartbeat : []
  }

  /// Where the client is, so that it goes on from there when it connects anew: a block without data is no
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
