import Feed
import Foundation
import JSON
import PostJSON
import Prefetch

/// A client's view of a server's feed: a run of consecutive pages, which grows at both ends.
///
/// A refresh bypasses all caches and starts a new run; older pages may come from caches. If the server no
/// longer keeps a cursor's ranking (410), one further request continues the run around its last item in the
/// current ranking. Items that the run already has are left out.
public actor FeedSession {
  private let source: PageSource
  private var pages: [FeedPage] = []
  private var ids: Set<ByteText> = []
  private let meter = PageMeter()
  /// The experiment named by the session's first page, and the arm drawn for the session. Both stay for the
  /// whole session.
  public private(set) var experiment: (draw: ExperimentDraw, arm: ExperimentArm)?
  /// The arm as reports name it, such as `7.b`; nil if the first page names no experiment.
  public var arm: String? { experiment.map { $0.draw.name(of: $0.arm) } }
  /// The random number that decides the arm. It never leaves this session.
  private let number = UInt32.random(in: 0...UInt32.max)
  private var hasPage = false

  /// Creates a session of the feed with this name.
  ///
  /// - Parameter server: the server's URL, such as `https://feeds.example.com`. If it has a path, that
  ///   precedes the paths of the routes.
  public init(
    server: URL, feed: String, transport: any Transport,
    settings: FeedSessionSettings = FeedSessionSettings()
  ) {
    source = PageSource(
      server: server, feed: feed, transport: transport, settings: settings,
      observer: { [meter] in meter.add($0) })
  }

  // MARK: Held items

  /// The items of the run, in the feed's order, each once.
  public var items: [FeedItem] { pages.flatMap(\.items) }

  /// The number of items in the feed, according to the last page.
  public var total: Int? { pages.last?.total }

  /// Whether there are items below the run, as far as is known.
  public var hasOlder: Bool { pages.last?.next != nil }

  /// Whether there are items above the run in its ranking.
  public var hasPrevious: Bool { pages.first?.previous != nil }

  /// The cost of requests for pages so far.
  public nonisolated var traffic: PageTraffic { meter.traffic }

  /// The feed's name.
  nonisolated var feed: String { source.feed }

  /// The URL for reports, and the transport to send them with.
  nonisolated var reporting: (url: URL, transport: any Transport) {
    (source.server.appendingPathComponent("v1/reports"), source.transport)
  }

  /// The source of the tokens for reports, which pages hand out; its closures return nil if there is none.
  nonisolated var reportTokens: ReportTokenSource {
    ReportTokenSource(
      last: { [source, meter] in $0.isSame(as: source.feed) ? meter.reportToken : nil },
      renew: { [source, meter] feed throws(FeedSessionError) in
        let other = PageMeter()
        let pages = PageSource(
          server: source.server, feed: feed, transport: source.transport,
          settings: source.settings,
          observer: { exchange in
            if feed.isSame(as: source.feed) { meter.add(exchange) }
            other.add(exchange)
          })
        // This page does not become a part of the run.
        _ = try await pages.page([("limit", "1")], bypassesCaches: true)
        return other.reportToken
      })
  }

  /// The number of sessions in a thousand that the server asks to share a recording.
  nonisolated var recordShare: Int { meter.recordShare }

  /// The number of milliseconds until a time that the server names, whatever this device's clock says.
  nonisolated func milliseconds(until time: Timestamp) -> Int { meter.milliseconds(until: time) }

  /// The absolute URL of an item's file. References in items are relative to the server.
  public nonisolated func url(of reference: String) -> URL? {
    URL(string: reference, relativeTo: source.server)?.absoluteURL
  }

  // MARK: Pages

  /// Loads the feed's first page, bypassing all caches, and starts a new run with it.
  @discardableResult
  public func refresh() async throws(FeedSessionError) -> FeedPage {
    begin(with: try await fetch([limit], bypassesCaches: true))
  }

  /// Loads the page below the run; `nil` at the end of the feed.
  ///
  /// - Throws: `FeedSessionError`; the run is then unchanged.
  @discardableResult
  public func older() async throws(FeedSessionError) -> FeedPage? {
    guard let last = pages.last else { throw .notBegun }
    guard let cursor = last.next else { return nil }
    let page: FeedPage
    do throws(FeedSessionError) {
      page = try await fetch([limit, ("after", cursor)], bypassesCaches: false)
    } catch .status(410, _, _) {
      page = try await below(last)
    }
    // Another call may have loaded the same page meanwhile, or started another run.
    guard pages.last?.next == cursor else { return nil }
    return append(page)
  }

  /// Loads the items that were added above the run, page by page, until there are no more.
  ///
  /// - Returns: the pages, oldest first; each is put above the one before.
  @discardableResult
  public func newer() async throws(FeedSessionError) -> [FeedPage] {
    guard var cursor = pages.first?.newer else { throw .notBegun }
    var found: [FeedPage] = []
    while found.count < source.settings.heldPages {
      let page: FeedPage
      do throws(FeedSessionError) {
        page = try await fetch([limit, ("before", cursor)], bypassesCaches: true)
      } catch .status(410, _, _) {
        // The server can no longer tell which items are new: start a new run.
        return [try await refresh()]
      }
      guard pages.first?.newer == cursor else { return found }
      cursor = page.newer
      pages[0].newer = cursor
      guard !page.items.isEmpty else { return found }
      found.append(prepend(page))
    }
    return found
  }

  /// Loads the page above the run in its ranking, which a window left out; `nil` at the top.
  @discardableResult
  public func previous() async throws(FeedSessionError) -> FeedPage? {
    guard let first = pages.first else { throw .notBegun }
    guard let cursor = first.previous else { return nil }
    let page: FeedPage
    do throws(FeedSessionError) {
      page = try await fetch([limit, ("before", cursor)], bypassesCaches: false)
    } catch .status(410, _, _) {
      guard let id = first.items.first?.id else { throw .notBegun }
      page = try await fetch(
        [("around", id), ("leading", "0"), ("trailing", "\(source.settings.limit - 1)")],
        bypassesCaches: true)
    }
    guard pages.first?.previous == cursor else { return nil }
    return prepend(page)
  }

  /// Loads a window around the item at this index of the feed, such as where a fling will stop, and starts a
  /// new run with it.
  ///
  /// - Parameter bypassesCaches: whether the held and cached pages of this place are out of date.
  @discardableResult
  public func window(
    aroundOffset offset: Int, bypassesCaches: Bool = false
  ) async throws(FeedSessionError) -> FeedPage {
    begin(
      with: try await fetch(
        [limit, ("around", "offset:\(max(0, offset))")], bypassesCaches: bypassesCaches))
  }

  /// Loads a window around an item, such as a restored position, and starts a new run with it.
  @discardableResult
  public func window(around id: String) async throws(FeedSessionError) -> FeedPage {
    begin(with: try await fetch([limit, ("around", id)], bypassesCaches: false))
  }

  /// The index in the feed of an item of the run, at the time when its page was loaded.
  public func offset(of id: String) -> Int? {
    for page in pages {
      if let index = page.items.firstIndex(where: { $0.id.isSame(as: id) }) {
        return page.offset + index
      }
    }
    return nil
  }

  /// Loads a page for the session's arm.
  private func fetch(
    _ parameters: [(String, String)], bypassesCaches: Bool
  ) async throws(FeedSessionError) -> FeedPage {
    // Clients outside of the experiment get the pages of arm `a` too: it needs no parameter.
    let arm = experiment?.arm == .b ? [("arm", "b")] : []
    let page = try await source.page(parameters + arm, bypassesCaches: bypassesCaches)
    if !hasPage {
      hasPage = true
      experiment = page.prefetch.experiment.map { ($0, $0.arm(of: number)) }
    }
    return page
  }

  /// The policy in force for the feed on a network, or that of the session's arm.
  ///
  /// - Parameter network: the name in a page's `prefetch.network`.
  /// - Throws: `FeedSessionError`, also if the answer has no such policy.
  func policy(onNetwork network: String) async throws(FeedSessionError) -> Policy {
    let document = try await source.networks()
    let known = document.root.member("networks")?.elements.first {
      $0.member("name")?.text?.isSame(as: network) == true
    }
    let tried = known?.member("experiment")
    let isTried =
      experiment?.arm == .b && tried?.member("id")?.wholeNumber == experiment?.draw.id
    let value = isTried ? tried?.member("policy") : known?.member("policy")
    guard let value, let policy = Policy(json: value) else {
      throw .malformed(RecordError(field: "networks", problem: "have no policy on \(network)"))
    }
    return policy
  }

  // MARK: The run

  private var limit: (String, String) { ("limit", "\(source.settings.limit)") }

  /// Loads the page below `last`, whose cursor is no longer valid.
  private func below(_ last: FeedPage) async throws(FeedSessionError) -> FeedPage {
    guard let id = last.items.last?.id else {
      return try await fetch([limit], bypassesCaches: true)
    }
    do throws(FeedSessionError) {
      return try await fetch(
        [("around", id), ("leading", "\(source.settings.limit - 1)"), ("trailing", "0")],
        bypassesCaches: true)
    } catch .status(404, _, _) {
      // The item is gone as well.
      return try await fetch(
        [limit, ("offset", "\(last.offset + last.items.count)")], bypassesCaches: true)
    }
  }

  private func begin(with page: FeedPage) -> FeedPage {
    (pages, ids) = ([], [])
    return append(page)
  }

  private func append(_ page: FeedPage) -> FeedPage {
    let new = withoutKnown(page)
    pages.append(new)
    while pages.count > source.settings.heldPages { forget(pages.removeFirst()) }
    return new
  }

  private func prepend(_ page: FeedPage) -> FeedPage {
    let new = withoutKnown(page)
    pages.insert(new, at: 0)
    while pages.count > source.settings.heldPages { forget(pages.removeLast()) }
    return new
  }

  private func withoutKnown(_ page: FeedPage) -> FeedPage {
    var page = page
    page.items = page.items.filter { ids.insert(ByteText($0.id)).inserted }
    return page
  }

  private func forget(_ page: FeedPage) {
    for item in page.items { ids.remove(ByteText(item.id)) }
  }
}

/// Settings of a `FeedSession`.
public struct FeedSessionSettings: Hashable, Sendable {
  /// The number of items of a page, 1 to 100.
  public var limit = 30
  /// The name of the network profile; `nil` lets the server choose by the header fields that the platform
  /// sends.
  public var network: String?
  /// Whether the person wants to save data.
  public var savesData = false
  /// The maximum number of held pages. Those farthest from the last requested page are dropped; they can be
  /// loaded again.
  public var heldPages = 100
  /// The maximum size of a page in bytes.
  public var pageBytes = 16_777_216
  /// The maximum number of retries after a transient error.
  public var retries = 2
  /// The delay before the first retry; it doubles with each further one.
  public var retryMilliseconds = 300
  /// The maximum delay. If the server asks for a longer one, the request fails at once.
  public var longestRetryMilliseconds = 5_000
  /// The maximum wait for the head of an answer, and for more of its body.
  public var timeoutMilliseconds = 20_000

  /// Creates the default settings.
  public init() {}
}
