import Foundation
import TestSupport

/// A primary and its standby, which a test holds back as long as it likes.
package final class PostgresPair: Sendable {
  package let primary: PostgresCluster
  package let standby: PostgresCluster

  package init() throws {
    primary = try PostgresCluster()
    standby = try PostgresCluster(standbyOf: primary)
  }

  /// The address of both, one after the other, of which libpq finds the one that is wanted.
  package var address: String {
    "postgres:///postgres?host=\(primary.folder),\(standby.folder)&user=tests"
  }

  /// A schema that is nobody else's and has yet to be made: its address on the primary, and on the standby.
  package func freshSchema() -> (primary: String, standby: String) {
    let schema = primary.freshSchema()
    return (schema.address, standby.address(schema: schema.name))
  }

  /// The standby shows nothing of what is written from now on.
  package func holdStandby() { replay("pg_wal_replay_pause()", until: "paused") }

  /// The standby shows what was written, once this returns.
  package func letStandbyFollow() throws {
    replay("pg_wal_replay_resume()", until: "not paused")
    try wait(untilStandby: "pg_last_wal_replay_lsn()")
  }

  /// The standby has on its disk what was written, once this returns; whether it shows it is another matter.
  package func letStandbyReceive() throws {
    try wait(untilStandby: "pg_last_wal_receive_lsn()")
  }

  /// What is replayed cancels questions in its way: they are asked again.
  private func replay(_ call: String, until state: String) {
    eventually {
      _ = try? standby.ask("SELECT \(call)")
      return (try? standby.ask("SELECT pg_get_wal_replay_pause_state()")) == state
    }
  }

  private func wait(untilStandby function: String) throws {
    // What was written without a commit is on no disk yet, and a version's place may lie behind it: a commit
    // takes it along.
    try primary.ask("SELECT pg_logical_emit_message(true, 'test', '')")
    let position = try primary.ask("SELECT pg_current_wal_flush_lsn()")
    eventually { (try? standby.ask("SELECT \(function) >= '\(position)'")) == "t" }
  }
}
