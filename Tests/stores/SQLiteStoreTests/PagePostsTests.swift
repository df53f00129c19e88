import Dispatch
import Feed
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

/// Posts by their numbers.
@Suite struct PagePostsTests {
  private static func store(_ folder: TemporaryFolder, _ count: Int) throws -> SQLiteStore {
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    var random = TestRandom()
    try store.load(
      (0..<count).map { number in
        let media = (0..<random.number(0...3)).map {
          Media(kind: random.one(of: MediaKind.allCases), url: "/\(number)/\($0)", bytes: $0)
        }
        return .post(
          Post(
            id: "p\(number)", type: random.one(of: PostType.allCases),
            author: random.once(in: 2) ? Author(id: "a\(number % 7)") : nil,
            tags: random.one(of: [[], ["one"], ["quo\"te", "two"], ["\u{e9}"]]),
            counters: random.one(of: [[], [Counter("a", -1), Counter("b", 9_007_199_254_740_991)]]),
            media: media), placements: [Placement(feed: "featured", rank: number)])
      })
    return store
  }

  @Test(arguments: [0, 1, 2, 8, 9, 32, 33, 99, 100, 101, 250], TestRandom.seeds)
  func `they come in the order asked for, without those that are gone`(count: Int, seed: UInt64)
    throws
  {
    let folder = TemporaryFolder()
    let store = try Self.store(folder, 260)
    var random = TestRandom(seed)
    let all = try store.cut(PageQuery(feed: "featured", limit: 260)).posts
    let gone = all[17]
    _ = try store.deletePost(withID: "p17")
    let numbers = Array((all + [999_999]).shuffled(using: &random).prefix(count))
    let posts = try store.posts(numbers)
    let kept = numbers.filter { $0 != gone && $0 != 999_999 }
    #expect(posts.posts.map(\.number) == kept)
    // Read one by one, by another statement.
    let expected = try kept.map { number in
      try #require(try store.item(withID: "p\(all.firstIndex(of: number)!)")).post
    }
    #expect(posts.allPosts == expected)
  }

  @Test func `a number that comes twice is read twice`() throws {
    let folder = TemporaryFolder()
    let store = try Self.store(folder, 3)
    #expect(try store.posts([2, 1, 2]).allPosts.map(\.id) == ["p1", "p0", "p1"])
  }

  @Test func `a page's posts are of one moment`() throws {
    let folder = TemporaryFolder()
    let path = folder.file("feed.sqlite")
    let store = try SQLiteStore(path: path)
    try store.load((0..<30).map { .ranked("p\($0)", $0) })
    let numbers = try store.cut(PageQuery(feed: "featured")).posts
    let writer = try DatabaseQueue(path: path)
    let isDone = Atomic<Bool>(false)
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      // Every post always has the same title as the others.
      for step in 0..<40 {
        try? writer.write {
          try $0.execute(sql: "UPDATE post SET title = ?", arguments: ["t\(step)"])
        }
      }
      isDone.store(true, ordering: .relaxed)
    }
    repeat {
      let posts = try store.posts(numbers).allPosts
      #expect(posts.count == 30)
      #expect(Set(posts.map(\.title)).count == (posts[0].title == "Post p0" ? 30 : 1))
    } while !isDone.load(ordering: .relaxed)
    group.wait()
  }

  @Test func `more threads than connections wait for each other`() throws {
    let folder = TemporaryFolder()
    let path = folder.file("feed.sqlite")
    try SQLiteStore(path: path).load((0..<30).map { .ranked("p\($0)", $0) })
    let store = try SQLiteStore(path: path, file: .init(readers: 2))
    let numbers = try store.cut(PageQuery(feed: "featured")).posts
    let counts = Mutex<[Int]>([])
    DispatchQueue.concurrentPerform(iterations: 40) { _ in
      let count = (try? store.posts(numbers).count) ?? -1
      counts.withLock { $0.append(count) }
    }
    #expect(counts.withLock { $0 } == Array(repeating: 30, count: 40))
    try store.close()
    try store.close()
  }

  @Test func `columns that another program filled are read too, or named`() throws {
    let folder = TemporaryFolder()
    let store = try Self.store(folder, 1)
    func set(_ column: String, _ text: String) throws {
      try store.pool.write {
        try $0.execute(sql: "UPDATE post SET \(column) = ?", arguments: [text])
      }
    }
    try set("tags", #"[ "a\"b", "c" ]"#)
    try set("counters", #"{"b": 2, "a": 1}"#)
    let post = try store.posts([1]).post(at: 0)
    #expect(post.tags == ["a\"b", "c"])
    #expect(post.counters == [Counter("a", 1), Counter("b", 2)])
    for (column, text) in [("tags", "[1]"), ("counters", "{"), ("counters", #"{"a":1.5}"#)] {
      try set(column, text)
      #expect(throws: StoreError.self) { try store.posts([1]) }
      try set(column, column == "tags" ? #"["x"]"# : #"{"x":1}"#)
    }
    // A failure leaves no snapshot behind.
    #expect(try store.posts([1]).count == 1)
  }
}
