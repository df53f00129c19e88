import Catalog
import Feed
import Foundation
import Postgres
import PostgresTestSupport
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

/// A primary that dies and a standby that somebody promotes by hand: libpq finds it by an address of both.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct PromotionTests {
  private struct Servers {
    let pair: PostgresPair
    let store: PostgresStore
    var standby: Standby { store.standby! }

    init() throws {
      pair = try PostgresPair()
      store = try PostgresStore(
        address: try DatabaseAddress(pair.address),
        connections: .init(readers: 2, standby: try DatabaseAddress(pair.standby.address)))
      try store.load((0..<10).map { .ranked("p\($0)", $0) })
      _ = try store.snapshot()
      // From now on a write is answered when the standby has it, too.
      try pair.primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
      try pair.primary.ask("SELECT pg_reload_conf()")
      let synchronous = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
      let isSynchronous = try eventually { try pair.primary.ask(synchronous) == "1" }
      try #require(isSynchronous)
    }

    /// Tries until it is written; how many refusals that took.
    func increment(_ id: String, attempts: Int) throws -> Int {
      for refusals in 0..<attempts {
        do {
          try store.increment(id, key: "once-\(id)")
          return refusals
        } catch let error as any StoreFailure {
          #expect(error.kind == .unavailable || error.kind == .busy, "\(error)")
          usleep(20_000)
        }
      }
      throw PostgresError.unexpected("no write in \(attempts) attempts")
    }
  }

  @Test func `the primary dies, the standby is promoted, and nothing answered is lost`() throws {
    let servers = try Servers()
    let (pair, store, standby) = (servers.pair, servers.store, servers.standby)
    for number in 0..<10 { try store.increment("p\(number)") }
    try pair.letStandbyFollow()
    standby.look()
    try pair.primary.kill()
    #expect(throws: (any Error).self) { try store.increment("p0", key: "once-p0") }
    // Nobody takes writes. What is in memory is shown, and what the standby has.
    #expect(throws: (any Error).self) { try store.refresh() }
    #expect(try store.walk("featured").count == 10)
    #expect(try store.post(withID: "p4")?.counters.first?.value == 1)
    #expect(standby.status.reads[.answered, default: 0] > 0)
    // What it does not have may be at the primary: there is no saying that it is not.
    #expect(throws: PostgresStoreError.self) { try store.item(withID: "nowhere") }

    try pair.standby.ask("SELECT pg_promote()")
    #expect(try servers.increment("p5", attempts: 500) < 500)
    for number in 0..<10 {
      let value = try store.post(withID: "p\(number)")?.counters.first?.value
      #expect(value == (number == 5 ? 2 : 1), "p\(number)")
    }
    // It is on a line of its own; as it is the primary, too, it is known to be on that.
    try store.refresh()
    standby.look()
    #expect(standby.status.problem == nil)
    let answered = standby.status.reads[.answered, default: 0]
    #expect(try store.post(withID: "p5")?.counters.first?.value == 2)
    #expect(standby.status.reads[.answered] == answered + 1)
    #expect(try store.check().isEmpty)
    try store.close()
  }

  @Test func `a standby that was promoted beside its primary is no longer read`() throws {
    let servers = try Servers()
    let (pair, store, standby) = (servers.pair, servers.store, servers.standby)
    try store.refresh()
    try pair.letStandbyFollow()
    standby.look()
    #expect(try store.item(withID: "p1") != nil)
    #expect(standby.status.reads == [.answered: 1])
    try pair.standby.ask("SELECT pg_promote()")
    // What is written there from now on is not what the primary has.
    try pair.standby.ask("DELETE FROM feed_entry; DELETE FROM post")
    #expect(try store.item(withID: "p1") != nil)
    #expect(try store.walk("featured").count == 10)
    standby.look()
    let problem = try #require(standby.status.problem)
    #expect(problem.contains("timeline"), "\(problem)")
    #expect(standby.status.reads[.answered] == 1)
    try store.close()
  }

  @Test func `what one pool finds out of a server, the others know`() throws {
    let cluster = try PostgresCluster()
    let address = try DatabaseAddress(cluster.address)
    let lesser = Outage()
    let outage = Outage(endingToo: lesser)
    let pools = [outage, outage, lesser].map {
      ConnectionPool(address, .init(server: .writable), limit: 1, outage: $0)
    }
    try cluster.kill()
    for pool in pools {
      #expect(throws: PostgresError.self) { try pool.run { try $0.run("SELECT 1") } }
    }
    try cluster.start()
    // Whichever of them comes first after the pause, the other need not wait for one of its own.
    #expect(eventually { (try? pools[0].run { try $0.run("SELECT 1") }) != nil })
    for pool in pools {
      #expect(try pool.run { try $0.run("SELECT 1").integer(0, 0) } == 1)
    }
    for pool in pools { pool.close() }
  }
}
