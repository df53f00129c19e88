import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

@Suite struct OtherWritersTests {
  @Test func `as long as somebody else writes, turns are short and pauses long`() throws {
    let folder = TemporaryFolder()
    let path = folder.file("feed.sqlite")
    let (own, other) = (try SQLiteStore(path: path), try SQLiteStore(path: path))
    var others = OtherWriters()
    let start = ContinuousClock.now
    func write(_ store: SQLiteStore, _ title: String) throws {
      try store.pool.write {
        try $0.execute(
          sql: "UPDATE network_profile SET title = ? WHERE name = 'wifi'", arguments: [title])
      }
    }
    func look(atSecond second: Double) throws -> (turn: Duration, pause: Duration) {
      try own.pool.write { try others.look($0, now: start + .seconds(second)) }
      return (others.longestTransaction, others.pause(after: .milliseconds(8)))
    }
    let alone = (turn: Duration.milliseconds(50), pause: Duration.milliseconds(2))
    let beside = (turn: Duration.milliseconds(10), pause: Duration.milliseconds(24))

    #expect(try look(atSecond: 0) == alone)
    try write(own, "own")
    #expect(try look(atSecond: 1) == alone)
    try write(other, "other")
    #expect(try look(atSecond: 2) == beside)
    #expect(try look(atSecond: 2.9) == beside)
    #expect(try look(atSecond: 3.1) == alone)
  }
}
