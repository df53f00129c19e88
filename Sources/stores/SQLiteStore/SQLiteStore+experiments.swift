import Catalog
import Experiments
import Feed
import GRDB
import Prefetch
import RowStore

/// Experiments on policies.
extension SQLiteStore: ExperimentStore {
  /// See `ExperimentStore`.
  ///
  /// - Throws: `PolicyError`, `StoreError`.
  package func experiments(_ selection: ExperimentSelection) throws -> [PolicyExperiment] {
    try withStoreErrors(path: path) {
      try readers.read { database, _ in
        try AppliedPolicies(database: database).selected(ExperimentText.select(selection))
          .experiments()
      }
    }
  }

  /// See `ExperimentStore`.
  ///
  /// - Throws: `ExperimentError`, `PolicyError`, `StoreError`.
  package func add(
    _ trial: NewTrial, _ kind: ExperimentStep.Kind, after last: NewestStep?, at time: Timestamp
  ) throws -> Int {
    try changeExperiment { try $0.add(trial, kind, after: last, at: time) }
  }

  /// See `ExperimentStore`.
  ///
  /// - Throws: `ExperimentError`, `PolicyError`, `StoreError`; then nothing is changed.
  package func take(
    _ kind: ExperimentStep.Kind, sharePermille: Int, evidence: [UInt8], of experiment: Int,
    after last: Int?, at time: Timestamp
  ) throws {
    try changeExperiment {
      try $0.take(
        kind, sharePermille: sharePermille, evidence: evidence, of: experiment, after: last,
        at: time)
    }
  }

  private func changeExperiment<Result>(
    _ body: (AppliedPolicies) throws -> Result
  ) throws -> Result {
    let result = try withStoreErrors(path: path) {
      try pool.write { database in
        let result = try body(AppliedPolicies(database: database))
        try ChangeLog(database: database).trim()
        return result
      }
    }
    followOwnWrite()
    return result
  }

  /// See `ExperimentStore`.
  ///
  /// - Throws: `StoreError`.
  package func holdLease(
    _ name: String, holder: String, milliseconds: Int, now: Int64
  ) throws -> Bool {
    try withStoreErrors(path: path) {
      try pool.write { database in
        try database.execute(
          sql: LeaseText.hold(name: "?1", holder: "?2", milliseconds: "?3", now: "?4"),
          arguments: [name, holder, milliseconds, now])
        return database.changesCount == 1
      }
    }
  }
}

extension AppliedPolicies: ExperimentRows {
  func selected(_ sql: String) throws -> [ExperimentRow] {
    try Row.fetchAll(database, sql: sql).map { row in
      ExperimentRow(
        numbers: (0..<ExperimentRow.numberCount).map { row[$0] },
        texts: (0..<ExperimentRow.textCount).map { row[ExperimentRow.numberCount + $0] })
    }
  }

  func insert(_ trial: NewTrial, _ kind: PolicyExperiment.Kind) throws -> Int {
    try database.execute(
      sql: """
        INSERT INTO experiment
          (kind, feed, network, setting, salt, share_permille, margin_percent, days)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        kind.rawValue, trial.feed, trial.network, ExperimentSetting.text(trial.setting),
        trial.salt, trial.limits.sharePermille, trial.limits.marginPercent, trial.limits.days,
      ])
    return Int(database.lastInsertedRowID)
  }

  func insert(
    _ kind: ExperimentStep.Kind, of experiment: Int, sharePermille: Int, evidence: String,
    at time: Timestamp
  ) throws {
    try database.execute(
      sql: """
        INSERT INTO experiment_step (experiment_id, taken_at, kind, share_permille, evidence)
        VALUES (?, ?, ?, ?, ?)
        """,
      arguments: [experiment, time.microseconds, kind.rawValue, sharePermille, evidence])
  }
}
