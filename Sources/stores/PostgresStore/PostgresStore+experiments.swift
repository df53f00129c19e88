import Catalog
import Experiments
import Feed
import Postgres
import Prefetch
import RowStore

/// Experiments on policies.
extension PostgresStore: ExperimentStore {
  /// See `ExperimentStore`.
  ///
  /// - Throws: `PolicyError`, `PostgresStoreError`.
  package func experiments(_ selection: ExperimentSelection) throws -> [PolicyExperiment] {
    try read {
      try AppliedPolicies(connection: $0).selected(ExperimentText.select(selection)).experiments()
    }
  }

  /// See `ExperimentStore`.
  ///
  /// - Throws: `ExperimentError`, `PolicyError`, `PostgresStoreError`.
  package func add(
    _ trial: NewTrial, _ kind: ExperimentStep.Kind, after last: NewestStep?, at time: Timestamp
  ) throws -> Int {
    try changeExperiment { try $0.add(trial, kind, after: last, at: time) }
  }

  /// See `ExperimentStore`.
  ///
  /// - Throws: `ExperimentError`, `PolicyError`, `PostgresStoreError`; then nothing is changed.
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
    let result = try withStoreErrors(name) {
      try writer.transaction { rows in
        let result = try body(AppliedPolicies(connection: rows.connection))
        rows.trimLog()
        return result
      }
    }
    followOwnWrite()
    return result
  }

  /// See `ExperimentStore`. Uses the database's clock, since those of servers may differ.
  ///
  /// - Throws: `PostgresStoreError`.
  package func holdLease(
    _ name: String, holder: String, milliseconds: Int, now: Int64
  ) throws -> Bool {
    try withStoreErrors(self.name) {
      try writer.transaction { rows in
        try rows.connection.run(
          LeaseText.hold(
            name: "$1::text", holder: "$2::text", milliseconds: "$3::int8",
            now: "(extract(epoch FROM clock_timestamp()) * 1000)::int8"),
          [.text(name), .text(holder), .integer(Int64(milliseconds))]
        ).changedCount == 1
      }
    }
  }
}

extension AppliedPolicies: ExperimentRows {
  static func experimentRows(_ rows: Rows) throws -> [ExperimentRow] {
    try (0..<rows.count).map { index in
      let row = RowValues(rows: rows, row: index)
      return ExperimentRow(
        numbers: try (0..<ExperimentRow.numberCount).map { try row.integer($0) },
        texts: (0..<ExperimentRow.textCount).map { row.string(ExperimentRow.numberCount + $0) })
    }
  }

  func selected(_ sql: String) throws -> [ExperimentRow] {
    try Self.experimentRows(try connection.runOnce(sql))
  }

  func insert(_ trial: NewTrial, _ kind: PolicyExperiment.Kind) throws -> Int {
    let rows = try connection.run(
      """
      INSERT INTO experiment
        (kind, feed, network, setting, salt, share_permille, margin_percent, days)
      VALUES ($1::text, $2::text, $3::text, $4::text, $5::text, $6::int8, $7::int8, $8::int8)
      RETURNING experiment_id
      """,
      [
        .text(kind.rawValue), .text(trial.feed), .text(trial.network),
        .text(ExperimentSetting.text(trial.setting)), .text(trial.salt),
        .integer(Int64(trial.limits.sharePermille)), .integer(Int64(trial.limits.marginPercent)),
        .integer(Int64(trial.limits.days)),
      ])
    return Int(try RowValues(rows: rows, row: 0).integer(0))
  }

  func insert(
    _ kind: ExperimentStep.Kind, of experiment: Int, sharePermille: Int, evidence: String,
    at time: Timestamp
  ) throws {
    try connection.run(
      """
      INSERT INTO experiment_step (experiment_id, taken_at, kind, share_permille, evidence)
      VALUES ($1::int8, $2::int8, $3::text, $4::int8, $5::text)
      """,
      [
        .integer(Int64(experiment)), .integer(time.microseconds), .text(kind.rawValue),
        .integer(Int64(sharePermille)), .text(evidence),
      ])
  }
}
