import ArgumentParser
import Feed
import Foundation
import SQLiteTestSupport
import TestSupport
import Testing

@testable import lookahead

/// No command brings the write-ahead log into the database without holding the write lock:
/// https://sqlite.org/wal.html#walresetbug. Each runs within this process, which sees its locks.
@Suite struct CheckpointCommandTests {
  let folder = TemporaryFolder()
  var database: String { folder.file("feed.sqlite") }

  private func run(_ arguments: String...) throws {
    var command = try Lookahead.parseAsRoot(arguments + ["--database", database])
    try command.run()
  }

  @Test func `no command brings the log in without the write lock`() throws {
    let restored = folder.file("restored.sqlite")
    let locks = WALLocks(of: database)
    let others = [restored, folder.file("backup.sqlite"), restored + ".restoring"].map(
      WALLocks.init)
    defer { ([locks] + others).forEach { $0.end() } }

    try run("migrate", "up")
    try run("seed", "--generate", "8000", "--batch-records", "2000")
    #expect(locks.checkpoints > 0)
    try run("seed", "--generate", "100", "--random-seed", "2")
    try run("migrate", "status")
    try run("check")
    try run("backup", folder.file("backup.sqlite"))
    try run("prune", "--keep-posts", "10")
    try run("vacuum")
    var restore = try Lookahead.parseAsRoot(
      ["restore", "--database", restored, folder.file("backup.sqlite")])
    try restore.run()
    restore = try Lookahead.parseAsRoot(
      ["restore", "--overwrite", "--database", restored, folder.file("backup.sqlite")])
    try restore.run()
    try run("check")
    for locks in [locks] + others { #expect(locks.checkpointsWithoutWriteLock == 0) }
  }
}
