import Catalog
import Feed
import HTTP
import HTTPServer
import ModelStore
import Observability
import Prefetch
import Synchronization
import System
import TestSupport
import Testing

@testable import FeedServer

/// A page is of one moment, and known to be of that.
@Suite struct PageSnapshotTests {
  private let folder = TemporaryFolder()

  @Test func `settings that change while a page is made leave no stale page`() throws {
    let store = ModelStore()
    try store.load((0..<10).map { .ranked("p\($0)", $0) })
    let changing = SettingsChangingStore(store) {
      store.changePolicies { policies in
        for key in policies.keys {
          policies[key]!.name = "changed"
          policies[key]!.trailing = 77
        }
      }
    }
    let source = ItemSource(
      store: changing, file: ItemFile(store: changing, folder: folder.path, maximumBytes: 0),
      writers: WorkerPool(threads: 1, limit: 1),
      figures: ApplicationFigures(registry: PrometheusRegistry()))
    let maker = PageMaker(store: changing, source: source)
    let parameters = try Parameters(Request(.get, path: "/rp/"), known: [])

    func page(of snapshot: any StoreSnapshot) throws -> PageMaker.Page {
      let asked = try PageRequest(
        feed: "featured", isCompact: true, parameters, Fields(), snapshot.policyBook.networks)
      let made = Mutex<Result<PageMaker.Page, any Error>?>(nil)
      // The store of this test reads at once.
      maker.make(asked, from: snapshot, nil) { page in made.withLock { $0 = page } }
      return try #require(made.withLock { $0 }).get()
    }

    let stale = try page(of: try changing.snapshot())
    #expect(!String(decoding: stale.body, as: UTF8.self).contains("changed"))
    #expect(!store.isUnchanged(feed: "featured", posts: stale.posts, since: stale.version))

    let fresh = try page(of: try store.snapshot())
    #expect(String(decoding: fresh.body, as: UTF8.self).contains("changed"))
    #expect(store.isUnchanged(feed: "featured", posts: fresh.posts, since: fresh.version))
  }
}

/// A store whose settings change as soon as somebody has taken a snapshot, once.
private final class SettingsChangingStore: ForwardingStore {
  let store: any FeedStore & PolicyStore
  private let change: @Sendable () -> Void
  private let hasChanged = Mutex(false)

  init(_ store: any FeedStore & PolicyStore, change: @escaping @Sendable () -> Void) {
    self.store = store
    self.change = change
  }

  func snapshot() throws -> any StoreSnapshot {
    let snapshot = try store.snapshot()
    let isToChange = hasChanged.withLock { hasChanged in
      defer { hasChanged = true }
      return !hasChanged
    }
    if isToChange { change() }
    return snapshot
  }
}
