import Dispatch
import Feed
import Synchronization
import TestSupport
import Testing

/// Walks beside a writer with a connection of its own: points 2 and 3 of the API.
@Suite struct ConcurrencyTests {
  /// Some of them in each run, all of them at night.
  static let cases = TestRandom.some(
    9,
    of: StoreKind.allCases.flatMap { kind in
      ["featured", "newest"].flatMap { feed in [1, 7, 30].map { (kind, feed, $0) } }
    })

  @Test(arguments: cases)
  func `every post that was there and survives is met once`(
    _ kind: StoreKind, _ feed: String, _ limit: Int
  ) throws {
    var options = StoreOptions()
    options.keptRankings = 10_000
    let test = try TestStore(kind, options)
    let reader = test.store
    let count = 400
    try reader.load(
      (0..<count).map { feed == "featured" ? .ranked("p\($0)", $0) : .timed("p\($0)", $0 / 3) })
    let writer = try test.again()
    // Each write of the model costs all rankings that it keeps.
    let mostWrites = kind == .model ? 60 : .max
    let isDone = Atomic<Bool>(false)
    let deleted = Mutex<Set<String>>([])
    let done = DispatchGroup()
    DispatchQueue.global().async(group: done) {
      var random = TestRandom(TestRandom.seeds.last!)
      var number = count
      var writes = 0
      while !isDone.load(ordering: .relaxed), writes < mostWrites {
        writes += 1
        do {
          switch random.number(0...9) {
          case 0..<4:
            number += 1
            let key = random.number(0...count)
            try writer.load(
              [feed == "featured" ? .ranked("p\(number)", key) : .timed("p\(number)", key)])
          case 4..<6:
            let id = "p\(random.number(0...number))"
            // Noted before it is done: a walk that misses it in between is right.
            deleted.withLock { _ = $0.insert(id) }
            _ = try writer.deletePost(withID: id)
          default:
            let id = random.number(0...count - 1)
            guard feed == "featured", !deleted.withLock({ $0.contains("p\(id)") }) else { continue }
            try writer.load([.ranked("p\(id)", random.number(0...count))])
          }
        } catch {
          Issue.record("the writer failed: \(error), seed \(random.seed)")
          return
        }
      }
    }
    defer {
      isDone.store(true, ordering: .relaxed)
      done.wait()
    }
    for _ in 0..<3 {
      try reader.refresh()
      let start = try Set(reader.walk(feed, limit: 100))
      var met: [String] = []
      var query = PageQuery(feed: feed, limit: limit)
      while true {
        try reader.refresh()
        let page = try reader.page(query)
        met += page.posts.map(\.id)
        guard let next = page.slice.next else { break }
        query.start = .after(next)
      }
      #expect(Set(met).count == met.count)
      let survivors = start.subtracting(deleted.withLock { $0 })
      #expect(survivors.subtracting(met).isEmpty)
    }
  }
}
