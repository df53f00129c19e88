import Feed
import Foundation
import Seeding
import SQLiteTestSupport
import TestSupport
import Testing

/// Two services on one database bring its log in with the write lock held: each of them writes, imports
/// and closes.
@Suite struct CheckpointServiceTests {
  @Test func `no service brings the log in without the write lock`() throws {
    let text = PostGenerator(count: 6_000, seed: 3).map { String(decoding: $0.json, as: UTF8.self) }
      .joined(separator: "\n")
    WALLocks.install()
    var locks: WALLocks?
    do {
      let first = try RunningService { $0.application.writeTokens = .only(RunningService.token) }
      // The process sees the locks of both.
      locks = WALLocks(of: first.databasePath)
      let second = try RunningService(beside: first) {
        $0.application.writeTokens = .only(RunningService.token)
      }
      let (client, other) = (try first.client(), try second.client())
      let imported = try client.request(
        "POST", "/v1/import", RunningService.authorized, body: text)
      #expect(imported.status == 200 && imported.value("added") == 6_000, "\(imported.text)")
      for index in 1...300 {
        let counted = try (index.isMultiple(of: 2) ? client : other).request(
          "POST", "/v1/items/g\(index)/counters", RunningService.authorized, body: #"{"views":1}"#)
        #expect(counted.status == 200, "\(counted.text)")
      }
      #expect(try #require(locks).checkpoints > 0)
    }
    #expect(try #require(locks).checkpointsWithoutWriteLock == 0)
    locks?.end()
  }
}
