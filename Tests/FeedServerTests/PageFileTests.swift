import Catalog
import Feed
import HTTP
import HTTPServer
import SQLiteStore
import Seeding
import Synchronization
import TestSupport
import Testing

@testable import FeedServer

/// Whole pages in a file: what comes out is what went in, if it still is what the store would give.
@Suite struct PageFileTests {
  private let folder = TemporaryFolder()

  private func store() throws -> SQLiteStore {
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    try store.load(Array(PostGenerator(count: 60, seed: 4)), batch: 2_000)
    return store
  }

  private static func text(_ number: Int) -> RequestText {
    RequestText(Request(.get, path: "/rp/", query: "offset=\(number)"))
  }

  /// A page of the feed from this offset on, with a body of any bytes.
  private static func page(_ store: SQLiteStore, _ offset: Int, bytes: Int = 900) throws
    -> ReadyPage
  {
    let feed = try #require(store.feeds().first?.name)
    let cut = try store.cut(PageQuery(feed: feed, offset: offset, limit: 5))
    let body = (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* offset) }
    let fields: Fields = ["ETag": "\"tag\(offset)\"", "Vary": "ECT"]
    let variant = Variant(
      tag: EntityTag("tag\(offset)"), whole: Response(.ok, fields: fields, bytes: body),
      notModified: Response(.notModified, fields: fields))
    let route = offset % 2 == 0 ? Route.page : .compactPage
    return ReadyPage(
      variant.prepared(route: route.path), feed: cut.feed.name, posts: cut.posts, asOf: cut.version)
  }

  private static func parts(_ page: ReadyPage?) throws -> String? {
    guard let page else { return nil }
    let (whole, notModified) = (page.variant.whole, page.variant.notModified)
    var body: [UInt8] = []
    for part in whole.body {
      switch part {
      case .bytes(let bytes): body += bytes
      case .file(let file, let range):
        body += try file.read(at: range.lowerBound, count: range.count)
      }
    }
    return "\(page.variant.tag) \(whole.status) \(whole.route) \(whole.preparedHead ?? []) "
      + "\(body) \(notModified.status) \(notModified.route) "
      + "\(notModified.preparedHead ?? []) \(notModified.body) \(page.feed) \(page.posts)"
  }

  @Test func `pages come back as they were, for requests of the same text alone`() throws {
    let store = try store()
    let file = PageFile(folder: folder.path, maximumBytes: 1 << 20)
    for offset in 0..<20 {
      let page = try Self.page(store, offset, bytes: 1 + offset * 700)
      let text = Self.text(offset)
      #expect(file.find(text, in: store) == nil && !file.contains(text))
      file.keep(page, for: text)
      #expect(file.contains(text))
    }
    for offset in 0..<20 {
      let page = try Self.page(store, offset, bytes: 1 + offset * 700)
      #expect(try Self.parts(file.find(Self.text(offset), in: store)) == Self.parts(page))
      // Two texts may have one hash.
      let record = page.record(for: Self.text(offset))
      let other = ReadyPage(
        record: record, body: .bytes([]), for: Self.text(99), asOf: store.version)
      #expect(other == nil)
    }
    #expect(file.figures.pages == 20 && file.figures.hits == 20 && file.figures.failures == 0)
  }

  @Test func `a page that changed is not found any more, and one that did not still is`() throws {
    let store = try store()
    let file = PageFile(folder: folder.path, maximumBytes: 1 << 20)
    for offset in [0, 20] { file.keep(try Self.page(store, offset), for: Self.text(offset)) }
    let first = try #require(Self.page(store, 0).posts.first)
    let posts = try store.posts([first])
    let id = posts.string(posts.posts[0].id)
    try store.outcome(of: ItemWrite(id: id, change: .increment([Counter("likes", 1)], key: nil)))
    #expect(file.find(Self.text(0), in: store) == nil)
    #expect(!file.contains(Self.text(0)))
    #expect(file.find(Self.text(20), in: store)?.version == store.version)
    #expect(file.figures.pages == 1)
  }

  @Test func `a page is kept when it is asked for again`() {
    let file = PageFile(folder: folder.path, maximumBytes: 1 << 20)
    #expect(!file.admits(Self.text(1)) && !file.admits(Self.text(2)))
    #expect(file.admits(Self.text(1)) && file.admits(Self.text(2)))
    // Out of date soon, it has to be asked for twice once more.
    #expect(!file.admits(Self.text(1)) && file.admits(Self.text(1)))
    let none = PageFile(folder: folder.path, maximumBytes: 0)
    #expect(!none.admits(Self.text(1)) && !none.admits(Self.text(1)))
  }

  @Test func `a page that is found often is not given now and then, to move to memory`() throws {
    let store = try store()
    let file = PageFile(folder: folder.path, maximumBytes: 1 << 20)
    file.keep(try Self.page(store, 1), for: Self.text(1))
    for _ in 0..<3 {
      for _ in 0..<PageFile.hitsBeforeMemory {
        #expect(file.find(Self.text(1), in: store) != nil)
      }
      #expect(file.find(Self.text(1), in: store) == nil && file.contains(Self.text(1)))
    }
  }

  @Test func `a full file is begun anew, and one that cannot be written is done without`() throws {
    let store = try store()
    let small = PageFile(folder: folder.path, maximumBytes: 20_000)
    for offset in 0..<40 {
      small.keep(try Self.page(store, offset), for: Self.text(offset))
      #expect(small.find(Self.text(offset), in: store) != nil)
      #expect(small.figures.bytes <= 20_000)
    }
    #expect(small.figures.renewals > 1)
    small.keep(try Self.page(store, 41, bytes: 30_000), for: Self.text(41))
    #expect(small.find(Self.text(41), in: store) == nil)
    let nowhere = PageFile(folder: folder.file("nowhere"), maximumBytes: 20_000)
    for _ in 0..<3 { nowhere.keep(try Self.page(store, 1), for: Self.text(1)) }
    #expect(nowhere.find(Self.text(1), in: store) == nil && nowhere.figures.failures == 1)
    #expect(!nowhere.admits(Self.text(1)) && !nowhere.admits(Self.text(1)))
  }

  @Test func `the file leaves as much room on the disk as it takes`() throws {
    let store = try store()
    let free = Mutex(8_000)
    let file = PageFile(folder: folder.path, maximumBytes: 1 << 20) { _ in free.withLock { $0 } }
    for offset in 0..<30 {
      file.keep(try Self.page(store, offset), for: Self.text(offset))
      #expect(file.find(Self.text(offset), in: store) != nil)
      #expect(file.figures.bytes <= 8_000)
    }
    #expect(file.figures.renewals > 1)
    free.withLock { $0 = 100 }
    file.keep(try Self.page(store, 30), for: Self.text(30))
    #expect(file.find(Self.text(30), in: store) == nil && file.figures.bytes == 0)
    // There is room again.
    free.withLock { $0 = 8_000 }
    file.keep(try Self.page(store, 30), for: Self.text(30))
    #expect(file.find(Self.text(30), in: store) != nil && file.figures.failures == 0)
  }

  @Test func `the file holds so many pages, however small they are`() throws {
    let store = try store()
    let file = PageFile(folder: folder.path, maximumBytes: 1 << 20, maximumPages: 5)
    for offset in 0..<12 {
      file.keep(try Self.page(store, offset), for: Self.text(offset))
      #expect(file.find(Self.text(offset), in: store) != nil && file.figures.pages <= 5)
    }
    #expect(file.figures.renewals == 2)
  }
}
