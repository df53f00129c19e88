import Catalog
import Feed
import TestSupport
import Testing

/// What is told of a change.
@Suite struct VersionTests {
  private static let posts = (0..<5).map { number in
    SeedRecord.ranked("p\(number)", number, feed: number < 4 ? "a" : "b")
  }

  @Test(arguments: StoreKind.allCases)
  func `a write is answered when the version tells of it`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.load(Self.posts)
    let page = try store.cut(PageQuery(feed: "a"))
    let writes: [ItemWrite] = [
      ItemWrite(id: "p0", change: .increment([Counter("likes", 1)], key: nil)),
      ItemWrite(id: "p0", change: .put(Post(id: "p0", type: .text), placements: nil)),
      ItemWrite(id: "p0", change: .delete),
    ]
    for write in writes {
      let before = store.version
      try store.outcome(of: write)
      #expect(store.version > before)
      #expect(store.changedPosts(since: before) == [page.posts[0]])
      #expect(!store.isUnchanged(feed: "a", posts: [page.posts[0]], since: before))
      #expect(store.isUnchanged(feed: "b", posts: [], since: before))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what a feed's write changes is told`(_ kind: StoreKind) throws {
    let test = try TestStore(kind)
    let store = test.store
    try store.load(Self.posts)
    let posts = try store.cut(PageQuery(feed: "a")).posts
    let changes: [FeedWrite.Change] = [
      .put(title: "A"), .rename(to: "c", title: "A"), .delete,
    ]
    for (name, change) in zip(["a", "a", "c"], changes) {
      let before = store.version
      _ = try store.outcome(of: FeedWrite(name: name, change: change))
      #expect(store.version > before)
      #expect(!store.isUnchanged(feed: name, posts: [], since: before))
      // A database tells of posts that are in no feed any longer: who keeps a copy reads no entries of theirs.
      let told: Set<Int64> =
        if case .delete = change, kind != .model { Set(posts) } else { [] }
      #expect(store.changedPosts(since: before).map(Set.init) == told)
      let difference = try #require(store.changes(since: before))
      #expect(Set(difference.posts) == told && !difference.areSettings)
      var names: Set = [name]
      if case .rename(let new, _) = change { names.insert(new) }
      #expect(Set(difference.feeds) == names)
    }
    #expect(try store.feeds().map(\.name) == ["b"])
    #expect(try store.posts(posts).count == 4)
  }
}
