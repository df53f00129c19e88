import Feed
import Observability
import Synchronization

/// The number of requests for each feed: for pages, for feeds in other formats and for events. A bounded
/// number of feeds have counts of their own, however many there are.
final class FeedRequests: Sendable {
  private struct State {
    var counts: FeedCounts
    /// The feed of the last request, and its requests that are not yet counted: the next request is usually
    /// for the same feed, and needs no look-up.
    var last: (feed: String, times: Int)?

    mutating func count() {
      if let last { counts.note(ByteText(last.feed), times: last.times) }
      last = nil
    }
  }

  /// The number of requests of one feed that are counted at once, so that a window does not end late.
  private static let timesAtOnce = 64

  private let state: Mutex<State>

  init(limit: Int) { state = Mutex(State(counts: FeedCounts(limit: limit))) }

  /// Counts answered requests for an existing feed.
  func note(_ feed: String, times: Int = 1) {
    state.withLock { state in
      if let last = state.last, last.times < Self.timesAtOnce, last.feed.isSame(as: feed) {
        state.last?.times += times
      } else {
        state.count()
        state.last = (feed, times)
      }
    }
  }

  /// - Parameter pages: report their latest requests before the figures are read.
  func register(in registry: PrometheusRegistry, with pages: KeptPages) {
    registry.totals(
      "lookahead_feed_requests_total",
      help: "Answered requests for a feed; with overflow=\"true\", those for all other feeds."
    ) {
      pages.tellRequests()
      let (told, others) = self.state.withLock { state in
        state.count()
        return (state.counts.told, state.counts.others)
      }
      return told.map { ([("feed", $0.text)], $1) } + [([("overflow", "true")], others)]
    }
  }
}

/// Counts requests of at most `limit` feeds, and of all others together.
///
/// While there is room, each requested feed has a count of its own. When there is no room, a feed that is
/// requested more than most replaces the least requested one: the algorithm of Misra and Gries ("Finding
/// repeated elements", 1982) finds candidates. It finds each feed with more than one in `limit` requests of a
/// window, and never counts one too high. So counts are rarely replaced, however many feeds there are. A new
/// count begins with the requests from then on: each request is counted once, and no count falls.
struct FeedCounts {
  private struct Count {
    var total = 0
    var inWindow = 0
  }

  private let limit: Int
  private var counts: [ByteText: Count] = [:]
  private var candidates: [ByteText: Int] = [:]
  /// The number of requests since the last review of the feeds with a count.
  private var window = 0
  /// The requests for feeds without a count of their own.
  private(set) var others = 0

  init(limit: Int) { self.limit = limit }

  /// The feeds with a count of their own.
  var told: [(feed: ByteText, total: Int)] { counts.map { ($0, $1.total) } }

  mutating func note(_ feed: ByteText, times: Int = 1) {
    guard limit > 0 else {
      others += times
      return
    }
    if let index = counts.index(forKey: feed) {
      counts.values[index].total += times
      counts.values[index].inWindow += times
    } else if counts.count < limit {
      counts[feed] = Count(total: times, inWindow: times)
    } else {
      others += times
      for _ in 0..<times { noteCandidate(feed) }
    }
    window += times
    if window >= limit * Self.windowRequests { review() }
  }

  /// The number of candidates per count: no candidate is counted lower by more than a fifth of an even share.
  private static let candidatesOfCount = 4
  /// The number of requests in a window, per count.
  static let windowRequests = 100

  private mutating func noteCandidate(_ feed: ByteText) {
    if let index = candidates.index(forKey: feed) {
      candidates.values[index] += 1
    } else if candidates.count < limit * Self.candidatesOfCount {
      candidates[feed] = 1
    } else {
      // Each decrement undoes an increment of an earlier request: the total cost is at most that of those
      // requests.
      candidates = candidates.compactMapValues { $0 > 1 ? $0 - 1 : nil }
    }
  }

  /// Replaces the least requested feeds by candidates with more than half of an even share and more requests.
  private mutating func review() {
    let least = Self.windowRequests / 2
    let rising = candidates.filter { $0.value > least }
      .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let falling = counts.sorted { ($0.value.inWindow, $0.key) < ($1.value.inWindow, $1.key) }
    for (new, old) in zip(rising, falling) where new.value > old.value.inWindow {
      counts[old.key] = nil
      counts[new.key] = Count()
    }
    for index in counts.indices { counts.values[index].inWindow = 0 }
    candidates.removeAll(keepingCapacity: true)
    window = 0
  }
}
