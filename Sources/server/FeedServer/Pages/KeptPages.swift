import Catalog
import Compression
import Feed
import HTTP
import HTTPServer
import Prefetch
import Synchronization

/// A cache of answered pages within a byte budget; the least recently used pages are evicted.
///
/// When it is full, a page is kept only after its second request: a client that walks through a whole feed
/// evicts no pages that many clients request.
///
/// A page is found by the text of an earlier request, without parsing it, or else by its key; and only if the
/// store would give the same page now.
final class KeptPages: Sendable {
  /// The maximum number of request texts for a page: one more replaces the oldest.
  fileprivate static let maximumTexts = 32

  fileprivate struct Entry: Sendable {
    let key: PageKey
    let page: KeptPage
    var texts: [RequestText]
    var bytes: Int
  }

  /// A page, beside its slot, so that finding it touches nothing else.
  fileprivate struct Place: Sendable {
    let slot: Int
    let page: KeptPage
  }

  fileprivate struct State: Sendable {
    var placesByText: [RequestText: Place] = [:]
    var slotsByKey: [PageKey: Int] = [:]
    var list = RecencyList<Entry>()
    /// The hashes of texts whose pages were not kept, each in the only place that it can have.
    var passed = [Int](repeating: 0, count: KeptPages.passedTexts)
    var figures = CacheFigures()
  }

  /// The number of remembered texts of first requests.
  fileprivate static let passedTexts = 4_096

  private let store: any FeedStore
  private let maximumBytes: Int
  private let state = Mutex(State())
  private let hits = Atomic<Int>(0)
  private let misses = Atomic<Int>(0)

  /// Creates the cache of the store's pages, of at most this many bytes; 0 disables it.
  init(of store: any FeedStore, maximumBytes: Int) {
    self.store = store
    self.maximumBytes = maximumBytes
  }

  /// The hits and misses so far, and the size of the cache.
  var figures: CacheFigures {
    var figures = state.withLock { $0.figures }
    figures.hits = hits.load(ordering: .relaxed)
    figures.misses = misses.load(ordering: .relaxed)
    return figures
  }

  /// Makes all pages report how often clients asked for them.
  func tellRequests() {
    let pages = state.withLock { state in state.slotsByKey.values.map { state.list[$0].page } }
    for page in pages { page.tellRequests() }
  }

  /// The page that answered an earlier request with this text.
  func find(_ text: RequestText) -> KeptPage? {
    guard maximumBytes > 0 else { return nil }
    let page = state.withLock { state -> KeptPage? in
      guard let place = state.placesByText[text] else { return nil }
      state.list.touch(place.slot)
      return place.page
    }
    guard let page, page.isCurrent(in: store) else { return nil }
    hits.wrappingAdd(1, ordering: .relaxed)
    return page
  }

  /// The page with this key, which is found by the text as well from now on; `nil` if the caller must make
  /// one.
  func find(_ key: @autoclosure () -> PageKey, for text: RequestText) -> KeptPage? {
    guard maximumBytes > 0 else {
      misses.wrappingAdd(1, ordering: .relaxed)
      return nil
    }
    let key = key()
    let page = state.withLock { state -> KeptPage? in
      guard let slot = state.slotsByKey[key] else { return nil }
      state.list.touch(slot)
      state.add(text, to: slot)
      return state.list[slot].page
    }
    guard let page, page.isCurrent(in: store) else {
      misses.wrappingAdd(1, ordering: .relaxed)
      return nil
    }
    hits.wrappingAdd(1, ordering: .relaxed)
    return page
  }

  /// Keeps a page with a body of this many bytes for requests of this text, in place of the previous one, if
  /// there is room or it was requested before; otherwise the page is not made.
  func keep(
    _ text: RequestText, _ key: @autoclosure () -> PageKey, bodyBytes: Int,
    _ page: @autoclosure () -> KeptPage
  ) {
    guard maximumBytes > 0, admits(text, bytes: bodyBytes) else { return }
    insert(page(), key: key(), for: text)
  }

  /// Whether a page of this many bytes should be kept now, for requests of this text.
  private func admits(_ text: RequestText, bytes: Int) -> Bool {
    guard bytes <= maximumBytes / Self.largestShare else {
      forget(text)
      return false
    }
    let hash = text.hashValue
    return state.withLock { state in
      let hasRoom = state.figures.bytes + bytes <= maximumBytes
      if hasRoom || state.placesByText[text] != nil { return true }
      let place = Int(hash.magnitude % UInt(Self.passedTexts))
      defer { state.passed[place] = hash }
      return state.passed[place] == hash
    }
  }

  private func insert(_ page: KeptPage, key: PageKey, for text: RequestText) {
    let bytes = page.bytes + Self.overheadBytes
    guard bytes + text.bytes.count <= maximumBytes / Self.largestShare else { return forget(text) }
    state.withLock { state in
      if let slot = state.slotsByKey[key] { state.remove(slot) }
      let slot = state.list.insert(Entry(key: key, page: page, texts: [], bytes: bytes))
      state.slotsByKey[key] = slot
      state.figures.entries += 1
      state.figures.bytes += bytes
      state.add(text, to: slot)
      while state.figures.bytes > maximumBytes, let oldest = state.list.oldest, oldest != slot {
        state.remove(oldest)
        state.figures.evictions += 1
      }
    }
  }

  /// Removes the page for requests of this text, because a page that is too large has replaced it.
  private func forget(_ text: RequestText) {
    state.withLock { state in
      if let place = state.placesByText[text] { state.remove(place.slot) }
    }
  }

  /// The divisor of the budget that gives the maximum size of a page.
  private static let largestShare = 8

  /// The bytes of an entry besides the page: its place in the list and in the dictionary of keys.
  private static let overheadBytes = 1024
}

extension KeptPages.State {
  /// Makes the text lead to the page in the slot.
  mutating func add(_ text: RequestText, to slot: Int) {
    if let other = placesByText[text]?.slot {
      guard other != slot else { return }
      drop(text, of: other)
    }
    if list[slot].texts.count >= KeptPages.maximumTexts { drop(list[slot].texts[0], of: slot) }
    list[slot].texts.append(text)
    list[slot].bytes += Self.bytes(of: text)
    figures.bytes += Self.bytes(of: text)
    placesByText[text] = KeptPages.Place(slot: slot, page: list[slot].page)
  }

  private mutating func drop(_ text: RequestText, of slot: Int) {
    list[slot].texts.removeAll { $0 == text }
    list[slot].bytes -= Self.bytes(of: text)
    figures.bytes -= Self.bytes(of: text)
    placesByText[text] = nil
  }

  mutating func remove(_ slot: Int) {
    let entry = list.remove(slot)
    slotsByKey[entry.key] = nil
    for text in entry.texts { placesByText[text] = nil }
    figures.entries -= 1
    figures.bytes -= entry.bytes
    assert(figures.bytes >= 0 && figures.entries == slotsByKey.count, "the sums are not the pages'")
  }

  /// The bytes of a text, with the array around it, and its places in the dictionary and in the page's list.
  private static func bytes(of text: RequestText) -> Int { text.bytes.count + 128 }
}

/// A page in one coding as it was answered, with its head, valid while the content is unchanged.
final class KeptPage: Sendable {
  let tag: EntityTag
  /// The answers, with their heads written.
  private let whole: Response
  private let notModified: Response
  let feed: String
  /// The store's numbers of the items that it shows.
  private let posts: [Int64]
  private let versionNumber: Atomic<UInt64>
  private let requests: FeedRequests
  /// The number of requests since the last report.
  private let untold = Atomic<Int>(0)

  /// - Parameter route: the pattern of the route that answered.
  init(
    _ variant: Variant, route: String, feed: String, posts: [Int64], asOf version: StoreVersion,
    requests: FeedRequests
  ) {
    self.requests = requests
    tag = variant.head.tag
    // A body that was just made has room for twice as many bytes, which the cache does not count. A compressed
    // one has none, and is shared with `EncodedBodies`.
    let hasRoom = variant.body.capacity > variant.body.count + variant.body.count / 8
    let body =
      hasRoom
      ? [UInt8](capacity: variant.body.count) { $0.append(variant.body.span) } : variant.body
    var (whole, notModified) = (variant.head.whole(body), variant.head.notModified)
    (whole.route, notModified.route) = (route, route)
    (self.whole, self.notModified) = (whole.prepared(), notModified.prepared())
    self.feed = feed
    self.posts = posts
    versionNumber = Atomic(version.number)
  }

  /// The route that answered.
  var route: String { whole.route }

  deinit { tellRequests() }

  /// The answer to the request, which is counted for the feed.
  ///
  /// - Throws: `Problem` 412 if a precondition fails.
  func answer(to request: Request) throws -> Response {
    if untold.wrappingAdd(1, ordering: .relaxed).newValue >= Self.toldAtOnce { tellRequests() }
    return try tag.isNews(to: request) ? whole : notModified
  }

  /// The number of requests that are reported together: a report takes a lock that all event loops share.
  private static let toldAtOnce = 32

  /// Reports the requests since the last report.
  func tellRequests() {
    let times = untold.exchange(0, ordering: .relaxed)
    if times > 0 { requests.note(feed, times: times) }
  }

  /// The version of the store as of which the page is known to be current.
  private var version: StoreVersion {
    StoreVersion(number: versionNumber.load(ordering: .relaxed))
  }

  /// Whether the store would give the same page now.
  func isCurrent(in store: any FeedStore) -> Bool {
    // Read first: the next look finds what is written after this.
    let now = store.version
    if now == version { return true }
    guard store.isUnchanged(feed: feed, posts: posts, since: version) else { return false }
    versionNumber.store(now.number, ordering: .relaxed)
    return true
  }

  /// The approximate bytes of memory that it takes.
  var bytes: Int { whole.bodyLength + 8 * posts.count + 2 * Self.headBytes }

  /// The bytes of an answer's fields, with the arrays around them.
  private static let headBytes = 1536
}

/// Everything that a page's representation depends on, besides the store: two requests with equal keys get
/// equal bytes.
struct PageKey: Hashable, Sendable {
  /// The format of a page.
  enum Form: Hashable, Sendable {
    /// Links lead to the requested route.
    case compact, full
    /// A JSON Feed or RSS with its own URL, which has all that it depends on of the request, from host to
    /// cursors.
    case document(url: String)
  }

  let form: Form
  let query: PageQuery
  @ByBytes var network: String
  /// Whether links contain the network.
  let isNetworkNamed: Bool
  /// The value of the query's parameter for saving data, which links repeat.
  let savesData: Bool?
  let bounds: PlanBounds
  /// The arm of an experiment.
  var arm = ExperimentArm.a
  let coding: ContentCoding
  /// The second at which the URLs of its files expire.
  let expires: Int?
  /// The seconds for which caches may keep it, if a scheduled change shortens the usual time.
  private(set) var cacheSeconds: Int?

  /// The same key with this cache lifetime.
  func kept(seconds: Int?) -> PageKey {
    var key = self
    key.cacheSeconds = seconds
    return key
  }
}

/// The unparsed part of a request that decides about its page: its target, and the fields that a page can
/// depend on; with the expiry of file URLs handed out now, and the cache lifetime of answers made now.
/// Requests with the same text have the same key; many texts may have the same key.
struct RequestText: Hashable, Sendable {
  let bytes: [UInt8]
  /// The seconds for which caches may keep an answer, if a scheduled change shortens the usual time.
  let cacheSeconds: Int?

  /// The fields on which a page may depend; each page lists those that it does depend on in `Vary`.
  static let fields: [StaticString] = ["Accept-Encoding", "ECT", "Downlink", "RTT", "Save-Data"]

  /// - Parameter home: the prefix of URLs, if the answer has absolute ones.
  init(
    _ request: borrowing Request, expires: Int? = nil, cacheSeconds: Int? = nil,
    home: String? = nil
  ) {
    self.cacheSeconds = cacheSeconds
    var bytes: [UInt8] = []
    bytes.reserveCapacity(request.target.count + 64)
    bytes.append(contentsOf: request.target)
    for field in Self.fields {
      // Neither targets nor values contain a line feed.
      bytes.append(UInt8(ascii: "\n"))
      request.fields.appendValues(of: field, to: &bytes)
    }
    if let expires { bytes.append(contentsOf: "\n\(expires)".utf8) }
    if let cacheSeconds { bytes.append(contentsOf: "\nkept \(cacheSeconds)".utf8) }
    if let home { bytes.append(contentsOf: "\n\(home)".utf8) }
    self.bytes = bytes
  }

  func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}
