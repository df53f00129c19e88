import Catalog
import Feed
import GRDB
import Migrations
import TestSupport
import Testing

@testable import SQLiteStore

/// A ranking in the making is its run's alone.
@Suite struct RankingRunTests {
  let folder = TemporaryFolder()
  let store: SQLiteStore

  /// In `featured` p0 to p9, by rank.
  init() throws {
    store = try SQLiteStore(path: folder.file("feed.sqlite"))
    try store.load((0..<10).map { .ranked("p\($0)", 10 + $0) })
  }

  private func ids(_ numbers: some Sequence<Int>) -> [String] { numbers.map { "p\($0)" } }

  @Test func `a run that was taken for over is told so, and publishes nothing`() throws {
    let run = store.beginImport()
    try run.write([.ranked("p0", 99)])
    try store.pool.write {
      try $0.execute(sql: "DELETE FROM pending_place; DELETE FROM ranking_run")
    }
    #expect(throws: StoreError.runDropped(path: store.path)) { try run.write([.ranked("x", 1)]) }
    #expect(throws: StoreError.runDropped(path: store.path)) { _ = try run.finish() }
    #expect(try store.walk("featured") == ids(0..<10))
  }

  @Test func `what is stored is never reported as not stored`() throws {
    try store.refresh()
    _ = try store.walk("featured")
    let run = store.beginImport()
    // From here on no refresh works.
    try store.follower.close()
    #expect(throws: StoreError.self) { try store.refresh() }
    try run.write([.ranked("p0", 99), .ranked("new", 50)])
    let summary = try run.finish()
    #expect(summary.added == 1 && summary.changed == 1 && summary.rankedAnew == ["featured"])
    #expect(try SQLiteStore(path: store.path).walk("featured") == ids(1..<10) + ["new", "p0"])
  }
}
