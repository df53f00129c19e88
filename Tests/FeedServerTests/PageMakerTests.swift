import Feed
import GRDB
import HTTP
import HTTPServer
import Observability
import Prefetch
import SQLiteStore
import Seeding
import Synchronization
import System
import TestSupport
import Testing

@testable import FeedServer

/// Pages are the same bytes with the same validator, wherever their items come from.
@Suite struct PageMakerTests {
  private let folder = TemporaryFolder()

  private func source(_ store: SQLiteStore, fileBytes: Int) -> ItemSource {
    ItemSource(
      store: store,
      file: ItemFile(store: store, folder: folder.path, maximumBytes: fileBytes),
      writers: WorkerPool(threads: 1, limit: 100),
      figures: ApplicationFigures(registry: PrometheusRegistry()))
  }

  private static func page(
    _ maker: PageMaker, _ target: String
  ) throws -> PageMaker.Page {
    let snapshot = try maker.store.snapshot()
    let request = Request(.get, path: "/rp/", query: target)
    let asked = try PageRequest(
      feed: "newest", isCompact: true, try Parameters(request, known: PageRequest.parameters),
      Fields(), snapshot.policyBook.networks)
    let made = Mutex<Result<PageMaker.Page, any Error>?>(nil)
    maker.make(asked, from: snapshot, nil) { page in made.withLock { $0 = page } }
    return try #require(made.withLock { $0 }).get()
  }

  @Test
  func `a page's bytes and validator are the same from the file, from the store and from both`()
    throws
  {
    let path = folder.file("feed.sqlite")
    let store = try SQLiteStore(path: path)
    try store.load(Array(PostGenerator(count: 90, seed: 7)), batch: 2_000)
    // On one network items cost other than on the others, so that their hints do not fit.
    try DatabaseQueue(path: path).write {
      try $0.execute(
        sql: "UPDATE policy SET video_weight = 9, image_bytes = 77 WHERE network = 'wifi'")
    }
    try store.refresh()
    let plain = PageMaker(store: store, source: source(store, fileBytes: 0))
    let half = PageMaker(store: store, source: source(store, fileBytes: 1 << 20))
    let full = PageMaker(store: store, source: source(store, fileBytes: 1 << 20))
    ItemFiller(store: store, file: full.source.file).run()
    for offset in stride(from: 0, to: 90, by: 7) {
      for network in ["3g", "wifi"] {
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
  }
}
