import Catalog
import Feed
import TestSupport
import Testing

struct PagingWalkTests {
  static let limits = [1, 7, 30, 100]

  static func sizes(_ limit: Int) -> Set<Int> {
    [0, 1, 2, limit - 1, limit, limit + 1, limit * 2, 257]
  }

  /// The pages from the top to the end, each checked.
  static func pages(_ feed: TestFeed, limit: Int) throws -> [PageSlice] {
    let order = feed.order
    var pages = [try order.page(limit: limit)]
    while true {
      let lower = (pages.count - 1) * limit
      try feed.check(pages[pages.count - 1], lower..<min(lower + limit, feed.posts.count))
      guard let next = pages[pages.count - 1].next else { return pages }
      pages.append(try order.page(.after(next), limit: limit))
    }
  }

  @Test(arguments: Shape.allCases, limits)
  func `a walk by next shows each post once, in order`(shape: Shape, limit: Int) throws {
    for seed in TestRandom.seeds {
      var random = TestRandom(seed)
      for size in Self.sizes(limit) {
        let feed = TestFeed(size, shape, &random)
        let pages = try Self.pages(feed, limit: limit)
        #expect(pages.flatMap(\.numbers) == feed.numbers, "\(size), \(TestRandom.replay)")
        #expect(pages.count == max(1, (size + limit - 1) / limit))
      }
    }
  }

  @Test(arguments: Shape.allCases, limits)
  func `a walk by prev shows the pages of the walk by next`(shape: Shape, limit: Int) throws {
    for seed in TestRandom.seeds {
      var random = TestRandom(seed)
      for size in Self.sizes(limit) {
        let feed = TestFeed(size, shape, &random)
        let order = feed.order
        var pages = try Self.pages(feed, limit: limit)
        var page = pages.removeLast()
        while let expected = pages.popLast() {
          page = try order.page(.before(try #require(page.previous)), limit: limit)
          try feed.check(page, expected.offset..<expected.offset + limit)
          // And down again from there, to the page it came from.
          let next = try order.page(.after(try #require(page.next)), limit: limit)
          let upper = min(expected.offset + limit * 2, size)
          try feed.check(next, expected.offset + limit..<upper)
        }
        #expect(page.previous == nil)
      }
    }
  }

  @Test func `a thousand posts at one instant are each shown once at any limit`() throws {
    let feed = TestFeed(
      (1...1_000).map { TestPost(id: "p\($0)", number: Int64($0), rank: nil, microseconds: 7) })
    for limit in [1, 3, 30, 100] {
      #expect(try Self.pages(feed, limit: limit).flatMap(\.numbers) == feed.numbers)
    }
  }

  @Test(arguments: Shape.allCases, TestRandom.seeds)
  func `an offset shows the items of the walk and links that go on`(shape: Shape, seed: UInt64)
    throws
  {
    var random = TestRandom(seed)
    for size in [0, 1, 8, 60] {
      let feed = TestFeed(size, shape, &random)
      let order = feed.order
      for offset in 0..<size {
        let page = try order.page(offset: offset, limit: 7)
        try feed.check(page, offset..<min(offset + 7, size))
        if let next = page.next {
          let lower = offset + 7
          try feed.check(
            try order.page(.after(next), limit: 7), lower..<min(lower + 7, size),
            "next of \(offset)")
        }
        if let previous = page.previous {
          try feed.check(
            try order.page(.before(previous), limit: 7), max(0, offset - 7)..<offset,
            "prev of \(offset)")
        }
      }
    }
  }

  @Test(arguments: [0, 1, 60], [0, 1, 100, Int.max])
  func `an offset past the end shows no items, no next, and the way back`(size: Int, more: Int)
    throws
  {
    for seed in TestRandom.seeds {
      var random = TestRandom(seed)
      let feed = TestFeed(size, .timed, &random)
      let offset = more == .max ? .max : size + more
      let page = try feed.order.page(offset: offset, limit: 7)
      #expect(page.entries == [])
      #expect(page.offset == offset)
      #expect(page.next == nil)
      #expect((page.previous == nil) == (size == 0))
      if let previous = page.previous {
        try feed.check(try feed.order.page(.before(previous), limit: 7), max(0, size - 7)..<size)
      }
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `an offset counts from the cursor, down from after and up from before`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for size in [1, 20, 40] {
      let feed = TestFeed(size, .mixed, &random)
      let order = feed.order
      for start in 1...size {
        // `start` items lie above the cursors.
        let above = try order.page(offset: start - 1, limit: 1)
        for offset in 0...size {
          if let after = above.next {
            let page = try order.page(.after(after), offset: offset, limit: 6)
            let lower = start + offset
            if lower < size {
              try feed.check(page, lower..<min(lower + 6, size))
            } else {
              #expect(page.entries == [])
              #expect(page.next == nil)
              #expect(page.offset == lower)
            }
          }
          let before = try #require(try order.page(offset: start, limit: 1).previous)
          let upper = max(0, start - offset)
          let page = try order.page(.before(before), offset: offset, limit: 6)
          try feed.check(page, max(0, upper - 6)..<upper, "\(offset) up from \(start)")
        }
      }
    }
  }

  @Test(arguments: Shape.allCases, TestRandom.seeds)
  func `any mixture of steps and limits stays in the order`(shape: Shape, seed: UInt64) throws {
    var random = TestRandom(seed)
    for size in [1, 2, 31, 257] {
      let feed = TestFeed(size, shape, &random)
      let order = feed.order
      var page = try order.page(limit: 1)
      for _ in 0..<400 {
        let limit = random.one(of: Self.limits)
        let skip = random.once(in: 4) ? random.number(0...10) : 0
        let upper = page.offset + page.entries.count
        switch random.number(0...4) {
        case 0, 1:
          guard let next = page.next, upper + skip < size else { continue }
          page = try order.page(.after(next), offset: skip, limit: limit)
          try feed.check(page, upper + skip..<min(upper + skip + limit, size))
        case 2, 3:
          guard let previous = page.previous, page.offset > skip else { continue }
          let end = page.offset - skip
          page = try order.page(.before(previous), offset: skip, limit: limit)
          try feed.check(page, max(0, end - limit)..<end)
        default:
          let offset = random.number(0...size - 1)
          page = try order.page(offset: offset, limit: limit)
          try feed.check(page, offset..<min(offset + limit, size))
        }
      }
    }
  }

  @Test(arguments: TestRandom.seeds) func `no offset is too large to be added`(seed: UInt64) throws
  {
    var random = TestRandom(seed)
    let feed = TestFeed(50, .ranked, &random)
    let order = feed.order
    let page = try order.page(offset: 20, limit: 10)
    let after = try #require(page.next)
    let before = try #require(page.previous)
    for offset in [Int.max, .max - 1, .max - 20, .max - 31] {
      let below = try order.page(.after(after), offset: offset, limit: 100)
      #expect(below.entries == [])
      #expect(below.next == nil)
      let above = try order.page(.before(before), offset: offset, limit: 100)
      #expect(above.entries == [])
      #expect(above.previous == nil)
      let gap = try order.page(.between(after: after, before: page.newer), offset: offset, limit: 9)
      #expect(gap.entries == [])
      #expect(gap.next == nil)
      let around = try order.page(.around(.offset(offset), leading: 100, trailing: 100), limit: 1)
      #expect(around.entries == [])
      #expect(around.next == nil)
    }
  }
}
