import Catalog
import Feed
import HTTP
import HTTPServer
import ModelStore
import Observability
import Prefetch
import Seeding
import Synchronization
import System
import TestSupport
import Testing

@testable import FeedServer

/// Pages are the same bytes with the same validator, wherever their items come from.
@Suite struct PageMakerTests {
  private let folder = TemporaryFolder()

  private func source(_ store: any FeedStore & PolicyStore, fileBytes: Int) -> ItemSource {
    ItemSource(
      store: store,
      file: ItemFile(store: store, folder: folder.path, maximumBytes: fileBytes),
      writers: WorkerPool(threads: 1, limit: 100),
      figures: ApplicationFigures(registry: PrometheusRegistry()))
  }

  /// What was made of the target so far.
  private static func begin(
    _ maker: PageMaker, _ target: String
  ) throws -> Monitor<Result<PageMaker.Page, any Error>?> {
    let snapshot = try maker.store.snapshot()
    let request = Request(.get, path: "/rp/", query: target)
    let asked = try PageRequest(
      feed: "newest", isCompact: true, try Parameters(request, known: PageRequest.parameters),
      Fields(), snapshot.policyBook.networks)
    let made = Monitor<Result<PageMaker.Page, any Error>?>(nil)
    maker.make(asked, from: snapshot, nil) { page in made.withLock { $0 = page } }
    return made
  }

  /// The page, of a store that reads at once.
  private static func page(_ maker: PageMaker, _ target: String) throws -> PageMaker.Page {
    try #require(try begin(maker, target).withLock { $0 }).get()
  }

  @Test func `a page is the same from the file, from the store and from both`() throws {
    let store = ModelStore()
    try store.load(Array(PostGenerator(count: 90, seed: 7)), batch: 2_000)
    // On one network items cost other than on the others, so that their hints do not fit.
    store.changePolicies { policies in
      for key in policies.keys where key.network == "wifi" {
        policies[key]!.videoWeight = 9
        policies[key]!.imageBytes = 77
      }
    }
    // Of every other file there are variants.
    let media = try store.posts(store.cut(PageQuery(feed: "newest", limit: 90)).posts).allPosts
      .flatMap(\.media)
    try store.keep(
      media.enumerated().filter { $0.offset % 2 == 0 }.map { number, media in
        func truth(_ bytes: Int, _ width: Int, _ variants: [MediaVariant] = []) -> MediaTruth {
          MediaTruth(
            kind: media.kind == .video ? .video : .image, bytes: bytes, mimeType: "a/b",
            width: width, durationMilliseconds: 5_000,
            start: MediaTiming(
              headBytes: 9, lead: [.init(kilobitsPerSecond: 300, bytes: bytes / 3)]),
            version: .entityTag("\"\(number) \(bytes)\""), variants: variants)
        }
        return KnownMedia(
          url: media.url,
          truth: truth(
            900_000, 1_200, [MediaVariant(url: "\(media.url)/small", truth: truth(80_000, 400))]))
      })
    let plain = PageMaker(store: store, source: source(store, fileBytes: 0))
    let half = PageMaker(store: store, source: source(store, fileBytes: 1 << 20))
    let full = PageMaker(store: store, source: source(store, fileBytes: 1 << 20))
    ItemFiller(store: store, file: full.source.file).run()
    for offset in stride(from: 0, to: 90, by: 7) {
      for network in ["3g", "wifi", "3g&width=300", "wifi&width=3000", "wifi&width=390"] {
        let target = "offset=\(offset)&limit=9&network=\(network)"
        let wanted = try Self.page(plain, target)
        for maker in [half, full] {
          let page = try Self.page(maker, target)
          #expect(page.body == wanted.body && page.hash == wanted.hash, "\(target)")
        }
      }
    }
    half.source.writers.wait()
    #expect(full.source.file.figures.misses == 0 && half.source.file.figures.hits > 0)
    let wifi = try Self.page(full, "network=wifi")
    #expect(String(decoding: wifi.body, as: UTF8.self).contains(#""weight":9"#))
    #expect(try Self.page(full, "network=3g").hash != wifi.hash)
    // Widths fall into few steps, which links name.
    let narrow = try Self.page(full, "network=wifi&width=300&limit=9")
    #expect(narrow.body == (try Self.page(full, "network=wifi&width=320&limit=9")).body)
    let text = String(decoding: narrow.body, as: UTF8.self)
    #expect(text.contains(#""variant":0"#) && text.contains("&width=320&"))
    #expect(!String(decoding: wifi.body, as: UTF8.self).contains(#""variant":"#))
  }

  @Test func `a store that answers later, and out of order, holds up nobody`() throws {
    let store = ModelStore()
    try store.load(Array(PostGenerator(count: 90, seed: 7)), batch: 2_000)
    let late = LateStore(store)
    let plain = PageMaker(store: store, source: source(store, fileBytes: 0))
    let maker = PageMaker(store: late, source: source(late, fileBytes: 0))
    let targets = stride(from: 0, to: 90, by: 10).map { "offset=\($0)&limit=10" }
    let pages = try targets.map { try Self.begin(maker, $0) }
    #expect(late.count == targets.count && pages.allSatisfy { $0.withLock { $0 == nil } })
    // A post goes while its page waits: that page is made anew, and waits again.
    let gone = try store.cut(PageQuery(feed: "newest", offset: 15, limit: 1)).posts
    let id = try store.posts(gone).post(at: 0).id
    try store.outcome(of: ItemWrite(id: id, change: .delete))
    for _ in 0..<3 { try late.answerAll() }
    for (target, page) in zip(targets, pages) {
      let wanted = try Self.page(plain, target)
      let page = try #require(page.withLock { $0 }).get()
      // What was read before the deletion shows the feed as it was then.
      if page.version == wanted.version { #expect(page.body == wanted.body, "\(target)") }
      #expect(page.posts.count == 10 || page.posts.count == wanted.posts.count)
    }
    let second = try #require(pages[1].withLock { $0 }).get()
    #expect(second.posts == (try Self.page(plain, targets[1])).posts)
    #expect(late.count == 0)
  }
}

/// A store whose reads of rows are answered later, on a thread of its own, and the last one first.
private final class LateStore: ForwardingStore {
  let store: any FeedStore & PolicyStore
  private let waiting = Mutex<[@Sendable () -> Void]>([])

  init(_ store: any FeedStore & PolicyStore) { self.store = store }

  /// How many reads wait.
  var count: Int { waiting.withLock { $0.count } }

  /// Answers what waits, from another thread, the last one first.
  func answerAll() throws {
    let work = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    let workers = WorkerPool(threads: 1, limit: work.count)
    for answer in work.reversed() { #expect(workers.run(answer)) }
    workers.wait()
  }

  func posts(
    _ numbers: [Int64], completion: @escaping @Sendable (Result<FlatPosts, any Error>) -> Void
  ) {
    waiting.withLock { $0.append { [store] in completion(Result { try store.posts(numbers) }) } }
  }

  func item(
    withID id: String, completion: @escaping @Sendable (Result<StoredItem?, any Error>) -> Void
  ) {
    waiting.withLock { $0.append { [store] in completion(Result { try store.item(withID: id) }) } }
  }
}
