import Feed
import Foundation
import JSON
import PostJSON
import Prefetch

/// A feed of a server as a client holds it: a run of pages that touch, which grows at both ends.
///
/// A refresh asks past all caches and begins the run anew; history may come from caches. A cursor whose ranking
/// the server no longer keeps (410) costs one further request: the run goes on around its last item in the
/// ranking of now, and items that it has already are left out.
public actor FeedSession {
  private let source: PageSource
  private var pages: [FeedPage] = []
  private var ids: Set<ByteText> = []
  private let meter = PageMeter()
  /// The experiment that its first page names, and the session's arm of it: it keeps both.
  public private(set) var experiment: (draw: ExperimentDraw, arm: ExperimentArm)?
  /// The arm as reports say it, `7.b`; nil where the first page names no experiment.
  public var arm: String? { experiment.map { $0.draw.name(of: $0.arm) } }
  /// By which arms are drawn; it stays in this session.
  private let number = UInt32.random(in: 0...UInt32.max)
  private var hasPage = false

  /// A session of the feed of this name.
  ///
  /// - Parameter server: where the server is, `https://feeds.example.com`; a path comes before the routes'.
  public init(
    server: URL, feed: String, transport: any Transport,
    settings: FeedSessionSettings = FeedSessionSettings()
  ) {
    source = PageSource(
      server: server, feed: feed, transport: transport, settings: settings,
      observer: { [meter] in meter.add($0) })
  }

  // MARK: What is held

  /// The items of the run, in the feed's order, each once.
  public var items: [FeedItem] { pages.flatMap(\.items) }

  /// How many items the feed has, as the last page says.
  public var total: Int? { pages.last?.total }

  /// Whether there is something below the run, as far as is known.
  public var hasOlder: Bool { pages.last?.next != nil }

  /// Whether there is something above it in its ranking.
  public var hasPrevious: Bool { pages.first?.previous != nil }

  /// What asking for pages has cost so far.
  public nonisolated var traffic: PageTraffic { meter.traffic }

  /// The feed's name.
  nonisolated var feed: String { source.feed }

  /// Where to report what was met, and over what.
  nonisolated var reporting: (url: URL, transport: any Transport) {
    (source.server.appendingPathComponent("v1/reports"), source.transport)
  }

  /// What pages hand out for reports; nil where they hand out nothing.
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
        // The run stays as it is.
        _ = try await pages.page([("limit", "1")], bypassesCaches: true)
        return other.reportToken
      })
  }

  /// Of a thousand sessions, how many the server asks to share what they were.
  nonisolated var recordShare: Int { meter.recordShare }

  /// How long it is until a time that the server names, in milliseconds, whatever our clock says.
  nonisolated func milliseconds(until time: Timestamp) -> Int { meter.milliseconds(until: time) }

  /// Where a file of an item lies: what items say is relative to the server.
  public nonisolated func url(of reference: String) -> URL? {
    URL(string: reference, relativeTo: source.server)?.absoluteURL
  }

  // MARK: Pages

  /// The feed's first page, past all caches. It is the run from now on.
  @discardableResult
  public func refresh() async throws(FeedSessionError) -> FeedPage {
    begin(with: try await fetch([limit], bypassesCaches: true))
  }

  /// The page below the run; `nil` at the end of the feed.
  ///
  /// - Throws: `FeedSessionError`; the run stays as it was.
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
    // Somebody else may have asked for the same meanwhile, or for another run.
    guard pages.last?.next == cursor else { return nil }
    return append(page)
  }

  /// What was put above the run since, oldest first, until there is no more; the newest at the end of the list.
  ///
  /// - Returns: the pages, each to be put above the one before.
  @discardableResult
  public func newer() async throws(FeedSessionError) -> [FeedPage] {
    guard var cursor = pages.first?.newer else { throw .notBegun }
    var found: [FeedPage] = []
    while found.count < source.settings.heldPages {
      let page: FeedPage
      do throws(FeedSessionError) {
        page = try await fetch([limit, ("before", cursor)], bypassesCaches: true)
      } catch .status(410, _, _) {
        // What is new cannot be told any more: the feed begins anew.
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

  /// The page above the run, in its ranking: what a window left out. `nil` at the top.
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

  /// A window around the item at this index of the feed: where a fling will stop. It is the run from now on.
  ///
  /// - Parameter bypassesCaches: what is held of it, or lies in a cache, is no longer good.
  @discardableResult
  public func window(
    aroundOffset offset: Int, bypassesCaches: Bool = false
  ) async throws(FeedSessionError) -> FeedPage {
    begin(
      with: try await fetch(
        [limit, ("around", "offset:\(max(0, offset))")], bypassesCaches: bypassesCaches))
  }

  /// A window around an item: a position that is restored. It is the run from now on.
  @discardableResult
  public func window(around id: String) async throws(FeedSessionError) -> FeedPage {
    begin(with: try await fetch([limit, ("around", id)], bypassesCaches: false))
  }

  /// The index in the feed of an item of the run, as it was when its page came.
  public func offset(of id: String) -> Int? {
    for page in pages {
      if let index = page.items.firstIndex(where: { $0.id.isSame(as: id) }) {
        return page.offset + index
      }
    }
    return nil
  }

  /// A page of the session's arm.
  private func fetch(
    _ parameters: [(String, String)], bypassesCaches: Bool
  ) async throws(FeedSessionError) -> FeedPage {
    // Pages of the arm `a` are those that all others have.
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
  /// - Parameter network: the name that `prefetch.network` of a page says.
  /// - Throws: `FeedSessionError`, also where the server does not tell it.
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

  /// What lies below a page whose cursor is no longer good.
  private func below(_ last: FeedPage) async throws(FeedSessionError) -> FeedPage {
    guard let id = last.items.last?.id else {
      return try await fetch([limit], bypassesCaches: true)
    }
    do throws(FeedSessionError) {
      return try await fetch(
        [("around", id), ("leading", "\(source.settings.limit - 1)"), ("trailing", "0")],
        bypassesCaches: true)
    } catch .status(404, _, _) {
      // The item is gone, too.
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

/// How a session asks for pages.
public struct FeedSessionSettings: Hashable, Sendable {
  /// Items of a page, 1 to 100.
  public var limit = 30
  /// The network profile by name; `nil` lets the server choose by what the platform's fields say.
  public var network: String?
  /// The person saves data.
  public var savesData = false
  /// Pages that are held; those farthest from the last one asked for go, and can be asked for again.
  public var heldPages = 100
  /// What a page has at the most.
  public var pageBytes = 16_777_216
  /// How often a request that may go better in a while is made again.
  public var retries = 2
  /// The wait before the first time, doubled each time.
  public var retryMilliseconds = 300
  /// No wait is longer; where the server asks for a longer one, the error says so at once.
  public var longestRetryMilliseconds = 5_000
  /// How long to wait for an answer, and for more of it.
  public var timeoutMilliseconds = 20_000

  /// The usual settings.
  public init() {}
}
