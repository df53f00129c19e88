import Dispatch
import Catalog
import Feed
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

@Suite struct WriteTests {
  struct Refused: Error, Equatable {}

  let folder = TemporaryFolder()
  let store: SQLiteStore

  init() throws {
    store = try SQLiteStore(path: folder.file("feed.sqlite"))
    try store.load([.ranked("a", 1), .ranked("b", 2), .ranked("c", 3)])
  }

  private func increment(_ id: String) -> ItemWrite {
    ItemWrite(id: id, change: .increment([Counter("likes", 1)], key: nil))
  }

  private func likes(_ id: String) throws -> Int? {
    try store.post(withID: id)?.counters.first?.value
  }

  /// A trigger of the test's own plays what fails, for the item `b` alone.
  private func fail(_ action: String) throws {
    try store.pool.write {
      try $0.execute(
        sql: """
          CREATE TABLE child (post_id INTEGER REFERENCES post DEFERRABLE INITIALLY DEFERRED);
          CREATE TRIGGER fail AFTER UPDATE OF counters ON post WHEN NEW.id = 'b'
          BEGIN \(action); END
          """)
    }
  }

  @Test func `a key that was kept before keys had owners is answered to whoever asks for the same`()
    throws
  {
    try store.increment("a", key: "k")
    try store.pool.write {
      try $0.execute(sql: "UPDATE idempotency_key SET key = 'k'")
    }
    let replay = ItemOutcome.counted([Counter("likes", 1)], isReplay: true)
    #expect(try store.increment("a", key: "k", of: "x") == replay)
    #expect(
      try store.increment("a", by: 2, key: "k", of: "x")
        == .counted([Counter("likes", 3)], isReplay: false))
  }

  @Test func `one write of a group fails alone, and the others are one transaction`() throws {
    try fail("SELECT RAISE(ABORT, 'no room')")
    let reader = try SQLiteStore(path: store.path)
    let last = ItemWrite(id: "c", change: .increment([Counter("likes", 1)], key: nil)) {
      (_) throws in
      // The first write of the group is made by now, and nobody else sees it.
      #expect(try reader.post(withID: "a")?.counters == [])
    }
    let moved = ItemWrite(
      id: "c",
      change: .put(
        Post(id: "c", type: .text), placements: [Placement(feed: "featured", rank: 9)])
    ) { _ in throw Refused() }
    let results = store.outcomes(ofGroup: [
      increment("a"), increment("b"), moved, increment("nobody"), last,
    ])
    guard case .success(.counted([Counter("likes", 1)], isReplay: false)) = results[0],
      case .failure(StoreError.database(_, _, "no room")) = results[1],
      case .failure(is Refused) = results[2],
      case .failure(FeedError.unknownItem("nobody")) = results[3],
      case .success(.counted) = results[4]
    else {
      Issue.record("the results are \(results)")
      return
    }
    #expect(try ["a", "b", "c"].map(likes) == [1, nil, 1])
    #expect(try store.feed(named: "featured")?.ranking == 1)
  }

  @Test(arguments: [
    ("INSERT INTO child VALUES (-1)", "FOREIGN KEY constraint failed"),
    ("SELECT RAISE(ROLLBACK, 'undone')", "undone"),
  ])
  func `what undoes the transaction fails the whole group and leaves nothing`(
    _ action: String, _ cause: String
  ) throws {
    try fail(action)
    let results = store.outcomes(ofGroup: [increment("a"), increment("b"), increment("c")])
    for result in results {
      guard case .failure(StoreError.database(_, _, cause)) = result else {
        Issue.record("\(result) does not name \(cause)")
        continue
      }
    }
    #expect(try ["a", "b", "c"].map(likes) == [nil, nil, nil])
    // The writer goes on.
    try store.increment("a")
    #expect(try likes("a") == 1)
  }

  @Test func `a write that is answered survives the end of the process`() throws {
    let copies = Mutex<[(counters: Int, path: String)]>([])
    let group = DispatchGroup()
    for number in 1...8 {
      group.enter()
      // The writer waits for the completion, so the files are as a kill at this moment leaves them.
      store.write(increment("a")) { [folder, store] result in
        defer { group.leave() }
        guard case .success(.counted(let counters, _)) = result else { return }
        let copy = folder.file("copy\(number).sqlite")
        for ending in ["", "-wal"] {
          do {
            try FileManager.default.copyItem(atPath: store.path + ending, toPath: copy + ending)
          } catch {
            Issue.record("\(error)")
          }
        }
        copies.withLock { $0.append((counters[0].value, copy)) }
      }
    }
    group.wait()
    let all = copies.withLock { $0 }
    #expect(all.count == 8)
    for (counters, path) in all {
      let copy = try SQLiteStore(path: path)
      #expect(try copy.post(withID: "a")?.counters[0].value ?? 0 >= counters)
      #expect(try copy.check().isEmpty)
    }
  }

  /// https://sqlite.org/pragma.html#pragma_synchronous: in WAL, a commit reaches the disk only with FULL.
  @Test func `a commit waits for the disk`() throws {
    for store in [store, try SQLiteStore(existing: store.path)] {
      let synchronous = try store.pool.writeWithoutTransaction {
        try Int.fetchOne($0, sql: "PRAGMA synchronous")
      }
      #expect(synchronous == 2)
    }
  }

}
