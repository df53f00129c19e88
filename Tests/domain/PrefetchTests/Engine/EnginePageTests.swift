import Prefetch
import Testing

/// When the engine asks for pages.
@Suite struct EnginePageTests {
  /// How many items were seen when each page was asked for, pages of ten arriving at once.
  private func seen(_ strategy: Policy.Strategy, pages: Int) -> [Int] {
    var (engine, _) = EngineSamples.engine(
      strategy, (0..<10).map { EngineSamples.image($0) }, hasNext: true)
    var (seen, count) = ([Int](), 10)
    for active in 0..<10 * pages where active < count && seen.count < pages {
      let actions = engine.handle(
        .activeChanged("\(active)"), atMilliseconds: active * 1_000)
      guard actions.pages.contains(.below) else { continue }
      seen.append(active + 1)
      _ = engine.handle(
        .pageArrived(
          .below, items: (count..<count + 10).map { EngineSamples.image($0) }, hasPrevious: false,
          hasNext: true), atMilliseconds: active * 1_000)
      count += 10
    }
    return seen
  }

  /// The article's table, `preloading-and-intelligent-preloading`: page, total, threshold, and how many items of
  /// the newest page have been seen by then.
  @Test func `threshold: the article's table of five pages`() {
    let fixed = seen(.thresholdFixed(percent: 70), pages: 5)
    let table = fixed.enumerated().map { [$0 + 1, 10 * ($0 + 1), $1, $1 - 10 * $0] }
    #expect(
      table == [
        [1, 10, 7, 7], [2, 20, 14, 4], [3, 30, 21, 1], [4, 40, 28, -2], [5, 50, 35, -5],
      ])
    #expect(seen(.thresholdDynamic(percent: 70), pages: 5) == [7, 17, 27, 37, 47])
  }

  @Test func `endless scroll asks at the end of the list`() {
    #expect(seen(.endless, pages: 3) == [10, 20, 30])
  }

  @Test func `the others ask so that the items ahead are there in time`() {
    // Five ahead and one second of scrolling for two round trips and a page: the fifth item of ten is active.
    #expect(seen(.plain(leading: 5), pages: 3) == [5, 15, 25])
    #expect(seen(.standard(leading: 1), pages: 3) == [8, 18, 28])
  }

  @Test func `an item that is looked at before its page is there becomes the active one with it`() {
    let items = (0..<9).map { EngineSamples.image($0) }
    var (engine, _) = EngineSamples.engine(
      .plain(leading: 1), Array(items[..<3]), hasNext: true)
    _ = engine.handle(.activeChanged("5"), atMilliseconds: 100)
    #expect(engine.activeItem == "0")
    let actions = engine.handle(
      .pageArrived(.below, items: Array(items[3...]), hasPrevious: true, hasNext: false),
      atMilliseconds: 200)
    #expect(engine.activeItem == "5")
    #expect(actions.fetchedItems == [5, 6] || actions.fetchedItems == [5])
    // The last one that was told counts, and before the first page, too.
    var fresh = PrefetchEngine(strategy: .plain(leading: 1))
    for id in ["7", "4"] { _ = fresh.handle(.activeChanged(id), atMilliseconds: 1) }
    _ = fresh.handle(
      .pageArrived(.anew, items: items, hasPrevious: false, hasNext: false), atMilliseconds: 2)
    #expect(fresh.activeItem == "4" && fresh.counts.viewedItems == 1)
    _ = engine.handle(.activeChanged("unknown"), atMilliseconds: 300)
    _ = engine.handle(.activeChanged("6"), atMilliseconds: 400)
    _ = engine.handle(
      .pageArrived(.below, items: [EngineSamples.image(77)], hasPrevious: true, hasNext: false),
      atMilliseconds: 500)
    #expect(engine.activeItem == "6")
  }

  @Test func `a page that failed is asked for again, later each time`() {
    var (engine, first) = EngineSamples.engine(
      .endless, [EngineSamples.image(0)], hasNext: true)
    #expect(first.pages == [.below])
    var (now, waits) = (0, [Int]())
    for _ in 0..<8 {
      let failed = engine.handle(
        .pageFailed(.below, retryAfterMilliseconds: nil), atMilliseconds: now)
      #expect(failed.pages == [])
      let time = failed.compactMap { if case .waitUntil(let time) = $0.kind { time } else { nil } }
      waits.append(time[0] - now)
      now = time[0]
      #expect(engine.handle(.timerFired, atMilliseconds: now).pages == [.below])
    }
    #expect(waits == [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  }

  @Test func `a page that brings nothing is not asked for in a circle`() {
    var (engine, _) = EngineSamples.engine(.endless, [EngineSamples.image(0)], hasNext: true)
    let actions = engine.handle(
      .pageArrived(
        .below, items: [EngineSamples.image(0)], hasPrevious: false, hasNext: true),
      atMilliseconds: 10)
    #expect(actions.pages == [])
    #expect(engine.handle(.timerFired, atMilliseconds: 510).pages == [.below])
  }

  @Test func `above the list there is a page as well, once somebody came down to its top`() {
    var (engine, first) = EngineSamples.engine(
      .plain(leading: 2), (50..<60).map { EngineSamples.image($0) }, hasPrevious: true)
    #expect(first.pages == [.above])
    let above = engine.handle(
      .pageArrived(
        .above, items: (40..<50).map { EngineSamples.image($0) }, hasPrevious: true,
        hasNext: false), atMilliseconds: 10)
    #expect(above.pages == [])
    #expect(engine.activeItem == "50")
    #expect(engine.handle(.activeChanged("49"), atMilliseconds: 20).fetchedItems == [49, 48, 47])
  }
}
