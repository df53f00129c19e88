import Catalog
import Feed
import ModelStore
import Prefetch
import Seeding
import Synchronization
import TestSupport
import Testing

@testable import FeedServer

/// Encoded items in a file: what comes out is what went in, or nothing.
@Suite struct ItemFileTests {
  private let folder = TemporaryFolder()

  private func store(_ count: Int) throws -> ModelStore {
    let store = ModelStore()
    try store.load(Array(PostGenerator(count: count, seed: 4)), batch: 2_000)
    return store
  }

  private func numbers(_ store: ModelStore) throws -> [Int64] {
    try store.feeds().flatMap { feed in
      try store.cut(PageQuery(feed: feed.name, limit: feed.total)).posts
    }
  }

  /// Something is known of every other file, and of some of those there are variants.
  private func addTruths(_ store: ModelStore) throws {
    var known: [KnownMedia] = []
    for post in try store.posts(numbers(store)).allPosts {
      for media in post.media {
        let number = known.count + 1
        var truth = Self.truth(media.kind, 1_000 * number, width: 900)
        if number % 3 == 0 {
          truth.variants = (1...number % 4 + 1).map { index in
            MediaVariant(
              url: "\(media.url)/\(index)",
              truth: Self.truth(media.kind, 100 * number * index, width: 150 * index))
          }
        }
        known.append(KnownMedia(url: media.url, truth: truth))
      }
    }
    try store.keep(known)
  }

  private static func truth(_ kind: MediaKind, _ bytes: Int, width: Int) -> MediaTruth {
    MediaTruth(
      kind: kind == .video ? .video : .image, bytes: bytes, mimeType: "a/b", width: width,
      durationMilliseconds: kind == .video ? 4_000 : nil,
      start: MediaTiming(
        headBytes: bytes / 9,
        lead: kind == .video ? [.init(kilobitsPerSecond: 200, bytes: bytes / 2)] : []),
      version: .entityTag("\"\(bytes)\""))
  }

  private static let policy = Policy(name: "p", strategy: .plain(leading: 5))

  private static let network = NetworkProfile(
    name: "3g", title: "3G", downlinkKbps: 780, uplinkKbps: 330, roundTripMilliseconds: 200)

  private static func items(_ posts: FlatPosts) -> EncodedItems {
    EncodedItems(posts, hintsBy: policy, on: network)
  }

  /// Every item with all that is known of it, as text.
  private static func texts(_ items: EncodedItems) -> [String] {
    items.records.map { record in
      let item = items.item(at: record.lowerBound)
      let json = String(decoding: items.bytes[item.json], as: UTF8.self)
      let id = String(decoding: items.bytes[item.openID], as: UTF8.self)
      let hint = String(decoding: items.bytes[item.hintStart..<item.json.upperBound], as: UTF8.self)
      return "\(json) \(id) \(hint) \(items.load(of: item)) \(item.hash)"
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `items come back as they were, from the file and from the store alike`(seed: UInt64) throws {
    var random = TestRandom(seed)
    let store = try store(300)
    if random.once(in: 2) { try addTruths(store) }
    let file = ItemFile(store: store, folder: folder.path, maximumBytes: 1 << 20)
    let all = try numbers(store)
    for _ in 0..<40 {
      let asked = (0..<random.number(1...40)).map { _ in all.randomElement(using: &random)! }
      let wanted = try asked.map { Self.items(try store.posts([$0])) }.flatMap(Self.texts)
      let found = file.read(asked)
      let rest = try store.posts(found.missing.map { asked[$0] })
      let items = EncodedItems(
        found, of: asked, and: Self.items(rest), of: rest.posts.map(\.number))
      #expect(Self.texts(items) == wanted, TestRandom.replay)
      file.append(Self.items(rest), rest.posts.map(\.number), asOf: store.version)
    }
    #expect(file.figures.hits > 0 && file.figures.failures == 0)
  }

  @Test func `what changed after it was read is not kept, and what changes is lost`() throws {
    let store = try store(20)
    let file = ItemFile(store: store, folder: folder.path, maximumBytes: 1 << 20)
    let numbers = try numbers(store)
    let version = store.version
    let posts = try store.posts([numbers[0], numbers[1]])
    let id = posts.string(posts.posts[0].id)
    try store.outcome(of: ItemWrite(id: id, change: .increment([Counter("likes", 1)], key: nil)))
    file.append(Self.items(posts), posts.posts.map(\.number), asOf: version)
    #expect(file.missing([numbers[0], numbers[1]]) == [numbers[0]])
    let second = posts.string(posts.posts[1].id)
    try store.outcome(of: ItemWrite(id: second, change: .increment([Counter("a", 1)], key: nil)))
    #expect(file.missing([numbers[1]]) == [numbers[1]])
  }

  @Test func `a full file is begun anew, and one that cannot be written is done without`() throws {
    let store = try store(200)
    let numbers = try numbers(store)
    let small = ItemFile(store: store, folder: folder.path, maximumBytes: 20_000)
    for number in numbers {
      small.append(Self.items(try store.posts([number])), [number], asOf: store.version)
      #expect(small.missing([number]).isEmpty && small.figures.bytes <= 20_000)
    }
    #expect(small.figures.renewals > 1)
    let nowhere = ItemFile(store: store, folder: folder.file("nowhere"), maximumBytes: 20_000)
    for _ in 0..<3 {
      nowhere.append(
        Self.items(try store.posts([numbers[0]])), [numbers[0]], asOf: store.version)
    }
    #expect(nowhere.missing([numbers[0]]) == [numbers[0]] && nowhere.figures.failures == 1)
  }

  @Test func `the file leaves as much room on the disk as it takes`() throws {
    let store = try store(60)
    let free = Mutex(Int.max)
    let file = ItemFile(store: store, folder: folder.path, maximumBytes: 1 << 20) { _ in
      free.withLock { $0 }
    }
    let all = Set(try numbers(store)).sorted()
    func append(_ posts: [Int64]) throws {
      file.append(Self.items(try store.posts(posts)), posts, asOf: store.version)
    }
    try append(Array(all.prefix(20)))
    let kept = file.figures
    #expect(kept.items == 20 && file.hasRoom)
    free.withLock { $0 = kept.bytes }
    try append(Array(all[20..<40]))
    #expect(file.figures == kept && file.hasRoom)
    free.withLock { $0 = kept.bytes - 1 }
    #expect(!file.hasRoom && file.missing(Array(all.prefix(20))).isEmpty)
    free.withLock { $0 = Int.max }
    try append(Array(all[20..<40]))
    #expect(file.figures.items == 40 && file.figures.failures == 0)
  }
}
