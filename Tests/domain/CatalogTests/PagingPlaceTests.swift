import Catalog
import Feed
import TestSupport
import Testing

/// Pages around an item, and gaps between two cursors.
struct PagingPlaceTests {
  @Test(arguments: [0, 1, 2, 12], TestRandom.seeds)
  func `a page around an offset is clipped at both ends of the feed`(size: Int, seed: UInt64) throws
  {
    var random = TestRandom(seed)
    let feed = TestFeed(size, .mixed, &random)
    let order = feed.order
    for offset in 0...size + 4 {
      for leading in [0, 1, 3, 20] {
        for trailing in [0, 1, 3, 20] {
          let page = try order.page(
            .around(.offset(offset), leading: leading, trailing: trailing), limit: 1)
          let lower = max(0, offset - trailing)
          if lower < size {
            try feed.check(page, lower..<min(size, offset + leading + 1), "around \(offset)")
          } else {
            #expect(page.entries == [])
            #expect(page.offset == lower)
            #expect(page.next == nil)
            #expect((page.previous == nil) == (size == 0))
          }
        }
      }
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `a page around an item is the page around its offset, and goes on both ways`(seed: UInt64)
    throws
  {
    var random = TestRandom(seed)
    for shape in Shape.allCases {
      let feed = TestFeed(40, shape, &random)
      let order = feed.order
      for (offset, post) in feed.posts.enumerated() {
        let page = try order.page(
          .around(.item(post.id), leading: 4, trailing: 2), limit: 1, item: post.position)
        let range = max(0, offset - 2)..<min(40, offset + 5)
        try feed.check(page, range, "around \(post.id)")
        if let next = page.next {
          let upper = min(40, range.upperBound + 9)
          try feed.check(try order.page(.after(next), limit: 9), range.upperBound..<upper)
        }
        if let previous = page.previous {
          let lower = max(0, range.lowerBound - 9)
          try feed.check(try order.page(.before(previous), limit: 9), lower..<range.lowerBound)
        }
      }
    }
  }

  /// Cursors directly below and directly above the item at each offset.
  static func cursors(_ order: FeedOrder, _ size: Int) throws -> (below: [Cursor], above: [Cursor])
  {
    let ends = try (0..<size).map { try order.page(offset: $0, limit: 1) }
    return (ends.compactMap(\.next), ends.compactMap(\.previous))
  }

  @Test(arguments: Shape.allCases, [1, 3, 30])
  func `a gap is read from its upper end to its lower one and no further`(shape: Shape, limit: Int)
    throws
  {
    for seed in TestRandom.seeds {
      var random = TestRandom(seed)
      let size = 14
      let feed = TestFeed(size, shape, &random)
      let order = feed.order
      let (below, above) = try Self.cursors(order, size)
      for (upperEnd, after) in below.enumerated() {
        for (index, before) in above.enumerated() {
          // `above[0]` stands above the item at offset 1: the first one has nothing above it.
          let lowerEnd = index + 1
          let gap = upperEnd + 1..<max(upperEnd + 1, lowerEnd)
          var page = try order.page(.between(after: after, before: before), limit: limit)
          #expect(page.previous == nil)
          #expect(page.offset == gap.lowerBound)
          var shown = page.numbers
          while let next = page.next {
            try #require(page.entries.count == limit)
            page = try order.page(.between(after: next, before: before), limit: limit)
            try #require(!page.entries.isEmpty, "next leads to nothing")
            shown += page.numbers
          }
          try #require(
            shown == Array(feed.numbers[gap]), "\(gap) of \(shape), \(TestRandom.replay)")
        }
      }
    }
  }

  @Test(arguments: TestRandom.seeds) func `an offset into a gap does not leave it`(seed: UInt64)
    throws
  {
    var random = TestRandom(seed)
    let feed = TestFeed(30, .timed, &random)
    let order = feed.order
    let after = try #require(try order.page(offset: 9, limit: 1).next)
    let before = try #require(try order.page(offset: 20, limit: 1).previous)
    let gap = PageQuery.Start.between(after: after, before: before)
    let page = try order.page(gap, offset: 4, limit: 3)
    #expect(page.numbers == Array(feed.numbers[14..<17]))
    #expect(page.offset == 14)
    #expect(page.next != nil)
    #expect(page.previous != nil)
    let last = try order.page(gap, offset: 8, limit: 3)
    #expect(last.numbers == Array(feed.numbers[18..<20]))
    #expect(last.next == nil)
    let past = try order.page(gap, offset: 10, limit: 3)
    #expect(past.entries == [])
    #expect(past.next == nil)
    // Back from past the end: what stands above the gap's lower end.
    let back = try order.page(.before(try #require(past.previous)), limit: 3)
    #expect(back.numbers == Array(feed.numbers[17..<20]))
  }

  @Test(arguments: TestRandom.seeds) func `a gap that was emptied has no items and no next`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    var feed = TestFeed(30, .timed, &random)
    let after = try #require(try feed.order.page(offset: 9, limit: 1).next)
    let before = try #require(try feed.order.page(offset: 20, limit: 1).previous)
    feed.remove(Set(feed.numbers[9...20]))
    let page = try feed.order.page(.between(after: after, before: before), limit: 3)
    #expect(page.entries == [])
    #expect(page.next == nil)
    #expect(page.previous == nil)
  }

  @Test(arguments: TestRandom.seeds) func `a gap has seen what either of its ends has seen`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    var feed = TestFeed(30, .timed, &random)
    let older = try feed.order.page(offset: 4, limit: 1)
    let olderBelow = try feed.order.page(offset: 20, limit: 1)
    for _ in 0..<3 { feed.insert([feed.makeNewer(&random)]) }
    let newer = try feed.order.page(offset: 7, limit: 1)
    let newerBelow = try feed.order.page(offset: 23, limit: 1)
    for (above, below) in [(older, newerBelow), (newer, olderBelow)] {
      let gap = PageQuery.Start.between(
        after: try #require(above.next), before: try #require(below.previous))
      let page = try feed.order.page(gap, limit: 5)
      #expect(page.numbers == Array(feed.numbers[8..<13]))
      #expect(try feed.order.page(.before(page.newer), limit: 5).entries == [])
    }
  }
}
