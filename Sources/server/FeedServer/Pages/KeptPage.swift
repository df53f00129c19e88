import Catalog
import Feed
import HTTP
import HTTPServer
import Prefetch
import Synchronization

/// A page in one coding as it was answered, head and all, good as long as what it shows stays as it is.
final class KeptPage: Sendable {
  let tag: EntityTag
  /// The answers, with their heads written.
  private let whole: Response
  private let notModified: Response
  let feed: String
  /// The items that it shows, by the store's numbers.
  private let posts: [Int64]
  private let versionNumber: Atomic<UInt64>
  private let requests: FeedRequests
  /// How often it was asked for since that was told.
  private let untold = Atomic<Int>(0)

  /// - Parameter route: the pattern of the route that answered.
  init(
    _ variant: Variant, route: String, feed: String, posts: [Int64], asOf version: StoreVersion,
    requests: FeedRequests
  ) {
    self.requests = requests
    tag = variant.head.tag
    var (whole, notModified) = (variant.head.whole(variant.body), variant.head.notModified)
    (whole.route, notModified.route) = (route, route)
    (self.whole, self.notModified) = (whole.prepared(), notModified.prepared())
    self.feed = feed
    self.posts = posts
    versionNumber = Atomic(version.number)
  }

  /// What answered.
  var route: String { whole.route }

  deinit { tellRequests() }

  /// The answer to the request, which is noted as one for the feed.
  ///
  /// - Throws: `Problem` 412 where a precondition fails.
  func answer(to request: Request) throws -> Response {
    if untold.wrappingAdd(1, ordering: .relaxed).newValue >= Self.toldAtOnce { tellRequests() }
    return try tag.isNews(to: request) ? whole : notModified
  }

  /// The number of requests that are reported together: a report takes a lock that all event loops share.
  private static let toldAtOnce = 32

  /// Tells what is not told yet of how often it was asked for.
  func tellRequests() {
    let times = untold.exchange(0, ordering: .relaxed)
    if times > 0 { requests.note(feed, times: times) }
  }

  /// As of when it is known to be right.
  private var version: StoreVersion {
    StoreVersion(number: versionNumber.load(ordering: .relaxed))
  }

  /// Whether the store would give the same page now.
  func isCurrent(in store: any FeedStore) -> Bool {
    // Asked for first: what is written after this is looked at the next time.
    let now = store.version
    if now == version { return true }
    guard store.isUnchanged(feed: feed, posts: posts, since: version) else { return false }
    versionNumber.store(now.number, ordering: .relaxed)
    return true
  }

  /// How much memory it takes, roughly.
  var bytes: Int { whole.bodyLength + 8 * posts.count + 2 * Self.headBytes }

  /// What an answer's fields take, with the arrays around them.
  private static let headBytes = 1536
}

/// What a page's representation rests on beside the store: two requests with equal keys get equal
/// bytes.
struct PageKey: Hashable, Sendable {
  /// What it is written as.
  enum Form: Hashable, Sendable {
    /// Links lead to the route that was asked.
    case compact, full
    /// Of a JSON Feed or RSS, its own URL: from host to cursors, what a request says that decides about it.
    case document(url: String)
  }

  let form: Form
  let query: PageQuery
  @ByBytes var network: String
  /// Whether links name the network.
  let isNetworkNamed: Bool
  /// What the query says of saving data, which links repeat.
  let savesData: Bool?
  let bounds: PlanBounds
  let coding: ContentCoding
  /// The second at which the URLs of its files expire.
  let expires: Int?
}

/// The part of a request that decides about its page, as it came: its target, and the fields that a page
/// can depend on; and when the URLs of files expire that are handed out just now. Requests with the same text have
/// the same key; many texts may have one.
struct RequestText: Hashable, Sendable {
  let bytes: [UInt8]

  /// What a page depends on at the most; each page says in `Vary` on which of them it does.
  static let fields: [StaticString] = ["Accept-Encoding", "ECT", "Downlink", "RTT", "Save-Data"]

  /// - Parameter home: what URLs begin with, where the answer has absolute ones.
  init(_ request: borrowing Request, expires: Int? = nil, home: String? = nil) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(request.target.count + 64)
    bytes.append(contentsOf: request.target)
    for field in Self.fields {
      // No target and no value has a line feed.
      bytes.append(UInt8(ascii: "\n"))
      request.fields.appendValues(of: field, to: &bytes)
    }
    if let expires { bytes.append(contentsOf: "\n\(expires)".utf8) }
    if let home { bytes.append(contentsOf: "\n\(home)".utf8) }
    self.bytes = bytes
  }

  func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}
