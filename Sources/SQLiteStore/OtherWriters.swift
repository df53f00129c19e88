import GRDB

/// How who changes much shares the file with others that write.
///
/// Who waits for SQLite's lock looks only now and then whether it is free
/// (https://sqlite.org/c3ref/busy_timeout.html). As long as somebody writes, transactions are short and the
/// lock is free for three quarters of the time, so that they are in at the second look. Else it is for a
/// fifth: who comes then waits for some looks, once.
struct OtherWriters {
  /// The file's data version, which another connection's writes change.
  private var version: Int64?
  private var seen: ContinuousClock.Instant?
  private var isBusy = false

  private static let rememberedSeconds = 1

  /// Sees, at the start of a transaction, whether somebody has written since the last one.
  mutating func look(_ database: Database, now: ContinuousClock.Instant) throws {
    let version = try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA data_version"))
    if self.version != nil, version != self.version { seen = now }
    self.version = version
    isBusy = seen.map { now - $0 < .seconds(Self.rememberedSeconds) } ?? false
  }

  /// After this a transaction begins nothing more.
  var longestTransaction: Duration { .milliseconds(isBusy ? 10 : 50) }

  /// For how long others have their turn after a transaction.
  func pause(after taken: Duration) -> Duration { isBusy ? taken * 3 : taken / 4 }
}
