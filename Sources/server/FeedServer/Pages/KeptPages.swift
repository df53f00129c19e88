import Catalog
import Compression
import Feed
import HTTP
import HTTPServer
import Prefetch
import Synchronization

/// The pages that are kept to be sent again, within a budget of bytes: the least recently used are
/// evicted.
///
/// When it is full, a page is kept only after its second request: a client that walks through a whole feed
/// evicts no pages that many clients request.
///
/// A page is found by the text of a request that it answered before, without that being parsed, or else
/// by its key; and only if it is what the store would give now.
final class KeptPages: Sendable {
  /// How many texts of requests lead to a page: one more takes the place of the oldest.
  fileprivate static let maximumTexts = 32

  fileprivate struct Entry: Sendable {
    let key: PageKey
    let page: KeptPage
    var texts: [RequestText]
    var bytes: Int
  }

  fileprivate struct State: Sendable {
    var slotsByText: [RequestText: Int] = [:]
    var slotsByKey: [PageKey: Int] = [:]
    var list = RecencyList<Entry>()
    /// The hashes of texts whose pages were not kept, each in the one place that it can have.
    var passed = [Int](repeating: 0, count: KeptPages.passedTexts)
    var figures = CacheFigures()
  }

  /// How many texts are remembered that were asked for once.
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

  /// What was found so far and what is kept.
  var figures: CacheFigures {
    var figures = state.withLock { $0.figures }
    figures.hits = hits.load(ordering: .relaxed)
    figures.misses = misses.load(ordering: .relaxed)
    return figures
  }

  /// Has all pages tell how often they were asked for.
  func tellRequests() {
    let pages = state.withLock { state in state.slotsByKey.values.map { state.list[$0].page } }
    for page in pages { page.tellRequests() }
  }

  /// The page that answered such a request before.
  func find(_ text: RequestText) -> KeptPage? {
    guard maximumBytes > 0 else { return nil }
    let page = state.withLock { state -> KeptPage? in
      guard let slot = state.slotsByText[text] else { return nil }
      state.list.touch(slot)
      return state.list[slot].page
    }
    guard let page, page.isCurrent(in: store) else { return nil }
    hits.wrappingAdd(1, ordering: .relaxed)
    return page
  }

  /// The page of this key, which from now on is found by the text as well; nil if the caller must make
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
      if hasRoom || state.slotsByText[text] != nil { return true }
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

  /// Forgets the page for requests of this text, where one that is too large has taken its place.
  private func forget(_ text: RequestText) {
    state.withLock { state in
      if let slot = state.slotsByText[text] { state.remove(slot) }
    }
  }

  /// No page takes more than the budget divided by this.
  private static let largestShare = 8

  /// What an entry takes beside the page: its place in the list and in the dictionary of keys.
  private static let overheadBytes = 1024
}

extension KeptPages.State {
  /// Lets the text lead to the page in the slot.
  mutating func add(_ text: RequestText, to slot: Int) {
    if let other = slotsByText[text] {
      guard other != slot else { return }
      drop(text, of: other)
    }
    if list[slot].texts.count >= KeptPages.maximumTexts { drop(list[slot].texts[0], of: slot) }
    list[slot].texts.append(text)
    list[slot].bytes += Self.bytes(of: text)
    figures.bytes += Self.bytes(of: text)
    slotsByText[text] = slot
  }

  private mutating func drop(_ text: RequestText, of slot: Int) {
    list[slot].texts.removeAll { $0 == text }
    list[slot].bytes -= Self.bytes(of: text)
    figures.bytes -= Self.bytes(of: text)
    slotsByText[text] = nil
  }

  mutating func remove(_ slot: Int) {
    let entry = list.remove(slot)
    slotsByKey[entry.key] = nil
    for text in entry.texts { slotsByText[text] = nil }
    figures.entries -= 1
    figures.bytes -= entry.bytes
    assert(figures.bytes >= 0 && figures.entries == slotsByKey.count, "the sums are not the pages'")
  }

  /// With the array around it, and its places in the dictionary and in the page's list.
  private static func bytes(of text: RequestText) -> Int { text.bytes.count + 128 }
}

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
  /// The arm of an experiment.
  var arm = ExperimentArm.a
  let coding: ContentCoding
  /// The second at which the URLs of its files expire.
  let expires: Int?
  /// How many seconds caches may keep it, where a moment to come makes that fewer than usual.
  private(set) var cacheSeconds: Int?

  /// The same, to be kept as long.
  func kept(seconds: Int?) -> PageKey {
    var key = self
    key.cacheSeconds = seconds
    return key
  }
}

/// The part of a request that decides about its page, as it came: its target, and the fields that a page
/// can depend on; when the URLs of files expire that are handed out just now; and how long answers of just now may be
/// kept. Requests with the same text have the same key; many texts may have one.
struct RequestText: Hashable, Sendable {
  let bytes: [UInt8]
  /// How many seconds caches may keep an answer, where a moment to come makes that fewer than usual.
  let cacheSeconds: Int?

  /// What a page depends on at the most; each page says in `Vary` on which of them it does.
  static let fields: [StaticString] = ["Accept-Encoding", "ECT", "Downlink", "RTT", "Save-Data"]

  /// - Parameter home: what URLs begin with, where the answer has absolute ones.
  init(
    _ request: borrowing Request, expires: Int? = nil, cacheSeconds: Int? = nil,
    home: String? = nil
  ) {
    self.cacheSeconds = cacheSeconds
    var bytes: [UInt8] = []
    bytes.reserveCapacity(request.target.count + 64)
    bytes.append(contentsOf: request.target)
    for field in Self.fields {
      // No target and no value has a line feed.
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
