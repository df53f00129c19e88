import Catalog
import Dispatch
import Feed
import Foundation
import Postgres
import PostgresTestSupport
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

/// A server that dies under load, on a cluster of the test's own that waits for its disk.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct ServerLossTests {
  @Test func `no answered write is lost, and reads from memory go on`() throws {
    let cluster = try PostgresCluster(settings: ["fsync=on"])
    let store = try PostgresStore(
      address: DatabaseAddress(cluster.address),
      connections: PostgresStore.Connections(readers: 2, statementMilliseconds: 5_000))
    try store.load((0..<20).map { .ranked("p\($0)", $0) })
    _ = try store.walk("featured")
    let answered = Mutex<[String: Int]>([:])
    let refused = Atomic<Int>(0)
    let isDone = Atomic<Bool>(false)
    let writers = DispatchGroup()
    for writer in 0..<4 {
      DispatchQueue.global().async(group: writers) {
        var random = TestRandom(TestRandom.seeds.last! &+ UInt64(writer))
        while !isDone.load(ordering: .relaxed) {
          let id = "p\(random.number(0...19))"
          do {
            try store.increment(id)
            answered.withLock { $0[id, default: 0] += 1 }
          } catch {
            // What a client is told: to come again.
            let kind = (error as? any StoreFailure)?.kind
            #expect(kind == .unavailable || kind == .busy, "\(error)")
            refused.add(1, ordering: .relaxed)
            usleep(20_000)
          }
        }
      }
    }
    for _ in 0..<3 {
      usleep(300_000)
      try cluster.kill()
      let before = refused.load(ordering: .relaxed)
      #expect(eventually { refused.load(ordering: .relaxed) != before })
      // Who asks for a page that is in memory gets it.
      #expect(try store.cut(PageQuery(feed: "featured", limit: 5)).slice.count == 5)
      #expect(throws: (any Error).self) { try store.refresh() }
      try cluster.start()
      let known = answered.withLock { $0.values.reduce(0, +) }
      // It is found again without anybody's help.
      #expect(eventually { answered.withLock { $0.values.reduce(0, +) } >= known + 20 })
    }
    isDone.store(true, ordering: .relaxed)
    writers.wait()
    try store.refresh()
    for (id, count) in answered.withLock({ $0 }) {
      let stored = try #require(try store.post(withID: id)).counters.first?.value ?? 0
      // More only by what was under way when the server died: it may have become durable unanswered.
      #expect(stored >= count && stored <= count + 12, "\(id)")
    }
    #expect(try store.check().isEmpty)
    try store.close()
  }
}

@Suite struct PostgresFailureKindTests {
  @Test(arguments: [
    (
      "53100", "could not extend file \"base/5/16385\": No space left on device",
      StoreFailureKind.full
    ),
    ("XX000", "could not extend file \"base/5/16385\": Disk quota exceeded", .full),
    ("58030", "could not read block 3 in file \"base/5/16385\": Input/output error", .other),
    ("XX000", "cache lookup failed for relation 16385", .other),
    ("53200", "out of memory", .unavailable),
  ])
  func `what a server says of its disk is a full disk, a quota, or neither`(
    sqlState: String, text: String, kind: StoreFailureKind
  ) {
    let message = ServerMessage(sqlState: sqlState, text: text)
    #expect(PostgresStoreError.database(name: "db", .server(message)).kind == kind)
  }
}
