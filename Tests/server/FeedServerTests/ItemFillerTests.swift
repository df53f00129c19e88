import Catalog
import Feed
import ModelStore
import Prefetch
import Seeding
import Synchronization
import TestSupport
import Testing

@testable import FeedServer

/// The item file is filled by itself, whatever happens to the store meanwhile.
@Suite struct ItemFillerTests {
  private let folder = TemporaryFolder()

  @Test func `what changes while it is read is read again`() throws {
    let store = ModelStore()
    try store.load(Array(PostGenerator(count: 40, seed: 4)), batch: 2_000)
    let total = try store.feeds().map(\.total).max()!
    for changes in [0, 1, 2] {
      let changing = ChangingStore(store, changes: changes)
      let file = ItemFile(store: changing, folder: folder.path, maximumBytes: 1 << 20)
      ItemFiller(store: changing, file: file).run()
      #expect(file.figures.items == total, "\(changes) changes")
    }
  }
}

/// A store in which a post changes whenever posts have been read, for the first times.
private final class ChangingStore: ForwardingStore {
  let store: any FeedStore & PolicyStore
  private let changesLeft: Mutex<Int>

  init(_ store: any FeedStore & PolicyStore, changes: Int) {
    self.store = store
    changesLeft = Mutex(changes)
  }

  func posts(_ numbers: [Int64]) throws -> FlatPosts {
    let posts = try store.posts(numbers)
    let isToChange = changesLeft.withLock { left in
      left -= 1
      return left >= 0
    }
    if isToChange {
      let id = posts.string(posts.posts[0].id)
      try store.outcome(of: ItemWrite(id: id, change: .increment([Counter("likes", 1)], key: nil)))
    }
    return posts
  }
}
