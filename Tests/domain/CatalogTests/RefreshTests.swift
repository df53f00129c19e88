import Catalog
import Feed
import TestSupport
import Testing

/// Pull-to-refresh: `before` the `newer` cursor.
struct RefreshTests {
  /// The pages until one is empty.
  static func poll(_ order: FeedOrder, from newer: Cursor, limit: Int) throws -> (
    pages: [[Int64]], newer: Cursor
  ) {
    var newer = newer
    var pages: [[Int64]] = []
    while true {
      let page = try order.page(.before(newer), limit: limit)
      newer = page.newer
      guard !page.entries.isEmpty else {
        #expect(page.previous == nil)
        return (pages, newer)
      }
      pages.append(page.numbers)
      try #require(pages.count < 1_000, "polling does not converge, \(TestRandom.replay)")
    }
  }

  /// Where a client stands when it begins to poll.
  enum Place: CaseIterable {
    case top, pageTwo, pageTwoAndBack, offset, pastTheEnd, afterWithOffset, around, gap, lastPage

    func page(of order: FeedOrder, limit: Int) throws -> PageSlice {
      let top = try order.page(limit: limit)
      switch self {
      case .top: return top
      case .offset: return try order.page(offset: 3, limit: limit)
      case .pastTheEnd: return try order.page(offset: 1_000, limit: limit)
      case .around:
        return try order.page(.around(.offset(9), leading: 2, trailing: 2), limit: limit)
      case .pageTwo, .pageTwoAndBack, .afterWithOffset, .gap, .lastPage:
        guard let next = top.next else { return top }
        let second = try order.page(.after(next), limit: limit)
        switch self {
        case .pageTwoAndBack:
          return try order.page(.before(try #require(second.previous)), limit: limit)
        case .afterWithOffset: return try order.page(.after(next), offset: 2, limit: limit)
        case .gap:
          guard let end = second.next else { return second }
          let third = try order.page(.after(end), limit: limit)
          return try order.page(
            .between(after: next, before: try #require(third.previous)), limit: limit)
        case .lastPage:
          var page = second
          while let next = page.next { page = try order.page(.after(next), limit: limit) }
          return page
        default: return second
        }
      }
    }
  }

  @Test(arguments: Place.allCases, [0, 1, 50])
  func `polling shows what came above, oldest gap first, and converges`(place: Place, size: Int)
    throws
  {
    for seed in TestRandom.seeds {
      var random = TestRandom(seed)
      for limit in [1, 7, 30] {
        var feed = TestFeed(size, .timed, &random)
        var newer = try place.page(of: feed.order, limit: limit).newer
        #expect(try Self.poll(feed.order, from: newer, limit: limit).pages == [])
        for _ in 0..<5 {
          var arrived: [Int64] = []
          for _ in 0..<random.number(0...limit * 2 + 2) {
            let post = feed.makeNewer(&random)
            feed.insert([post])
            arrived.insert(post.number, at: 0)
          }
          try #require(Array(feed.numbers.prefix(arrived.count)) == arrived)
          let polled = try Self.poll(feed.order, from: newer, limit: limit)
          // Each page in feed order, the lowest first.
          let expected = stride(from: arrived.count, to: 0, by: -limit).map { end in
            Array(arrived[max(0, end - limit)..<end])
          }
          try #require(polled.pages == expected, "limit \(limit), \(TestRandom.replay)")
          newer = polled.newer
        }
      }
    }
  }

  @Test(arguments: TestRandom.seeds) func `polling an unchanged feed answers the same each time`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    for size in [0, 1, 50] {
      let order = TestFeed(size, .timed, &random).order
      let first = try order.page(.before(try order.page(limit: 7).newer), limit: 7)
      let second = try order.page(.before(first.newer), limit: 7)
      #expect(first.entries == [])
      #expect(second.entries == [])
      #expect(first.newer.text == second.newer.text)
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `what comes during a walk is newer than the walk, on each of its pages`(seed: UInt64) throws
  {
    var random = TestRandom(seed)
    var feed = TestFeed(50, .timed, &random)
    var page = try feed.order.page(limit: 10)
    var arrived: [Int64] = []
    while let next = page.next {
      let post = feed.makeNewer(&random)
      feed.insert([post])
      arrived.insert(post.number, at: 0)
      page = try feed.order.page(.after(next), limit: 10)
      #expect(try feed.order.page(.before(page.newer), limit: 100).numbers == arrived)
    }
    #expect(arrived.count == 4)
  }

  @Test(arguments: TestRandom.seeds) func `a page reached upwards has seen what it shows`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    var feed = TestFeed(20, .timed, &random)
    let second = try feed.order.page(
      .after(try #require(feed.order.page(limit: 10).next)), limit: 10)
    let arrived = (0..<5).map { _ in
      let post = feed.makeNewer(&random)
      feed.insert([post])
      return post.number
    }
    // 15 items stand above page two now; the page directly above shows the lower ten of them, the
    // one above that the five that came.
    let upwards = try feed.order.page(.before(try #require(second.previous)), limit: 10)
    #expect(upwards.numbers == Array(feed.numbers[5..<15]))
    let top = try feed.order.page(.before(try #require(upwards.previous)), limit: 10)
    #expect(top.numbers == arrived.reversed())
    #expect(try feed.order.page(.before(top.newer), limit: 10).entries == [])
    // Down again from there: still seen.
    let down = try feed.order.page(.after(try #require(top.next)), limit: 10)
    #expect(try feed.order.page(.before(down.newer), limit: 10).entries == [])
  }

  @Test(arguments: TestRandom.seeds) func `the first refreshed page goes on into what was known`(
    seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    var feed = TestFeed(20, .timed, &random)
    let known = feed.numbers
    let newer = try feed.order.page(limit: 10).newer
    for _ in 0..<12 { feed.insert([feed.makeNewer(&random)]) }
    let refreshed = try feed.order.page(.before(newer), limit: 5)
    #expect(refreshed.numbers == Array(feed.numbers[7..<12]))
    #expect(refreshed.offset == 7)
    let below = try feed.order.page(.after(try #require(refreshed.next)), limit: 5)
    #expect(below.numbers == Array(known.prefix(5)))
    // Seven are still above, and remain newer from below.
    #expect(
      try feed.order.page(.before(below.newer), limit: 100).numbers == Array(feed.numbers[..<7]))
  }

  @Test(arguments: TestRandom.seeds)
  func `the deletion of the top neither repeats nor loses anything`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for gone in [1, 10, 20] {
      var feed = TestFeed(20, .timed, &random)
      let newer = try feed.order.page(limit: 10).newer
      let top = feed.posts[0]
      feed.remove(Set(feed.numbers.prefix(gone)))
      let empty = try feed.order.page(.before(newer), limit: 10)
      #expect(empty.entries == [])
      #expect(try feed.order.page(.before(empty.newer), limit: 10).entries == [])
      let post = TestPost(
        id: "new", number: 999, rank: nil, microseconds: try #require(top.microseconds) + 1)
      feed.insert([post])
      #expect(try feed.order.page(.before(empty.newer), limit: 10).numbers == [999])
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `an offset from the newer cursor skips the items next to it`(seed: UInt64) throws {
    var random = TestRandom(seed)
    var feed = TestFeed(20, .timed, &random)
    let newer = try feed.order.page(limit: 10).newer
    for _ in 0..<12 { feed.insert([feed.makeNewer(&random)]) }
    let page = try feed.order.page(.before(newer), offset: 4, limit: 5)
    #expect(page.numbers == Array(feed.numbers[3..<8]))
    let past = try feed.order.page(.before(newer), offset: 12, limit: 5)
    #expect(past.entries == [])
    #expect(past.previous == nil)
  }
}
