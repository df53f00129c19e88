import Catalog
import Compression
import Feed
import HTTP
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
  }

  /// With the array around it, and its places in the dictionary and in the page's list.
  private static func bytes(of text: RequestText) -> Int { text.bytes.count + 128 }
}
