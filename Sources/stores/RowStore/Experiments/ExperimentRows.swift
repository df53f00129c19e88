import Catalog
import Experiments
import Feed
import JSON
import Prefetch

/// The rows of experiments in one kind of database, within a transaction while no other writes.
package protocol ExperimentRows: PolicyRows {
  /// Returns what a statement of `ExperimentText` selects.
  func selected(_ sql: String) throws -> [ExperimentRow]
  /// Adds an experiment.
  ///
  /// - Returns: its number.
  func insert(_ trial: NewTrial, _ kind: PolicyExperiment.Kind) throws -> Int
  /// Adds a step.
  func insert(
    _ kind: ExperimentStep.Kind, of experiment: Int, sharePermille: Int, evidence: String,
    at time: Timestamp) throws
}

/// A step and its experiment, as `ExperimentText` selects them.
package struct ExperimentRow {
  /// experiment_id, share_permille, margin_percent, days, step_id, taken_at, the step's share_permille.
  let numbers: [Int64]
  /// kind, feed, network, setting, salt, the step's kind, evidence.
  let texts: [String?]

  /// Creates a row of these columns.
  package init(numbers: [Int64], texts: [String?]) {
    (self.numbers, self.texts) = (numbers, texts)
  }

  /// The numbers of columns of each kind; the numbers come first.
  package static let (numberCount, textCount) = (7, 7)
}

/// SQL on the tables of experiments that is the same in every database.
package enum ExperimentText {
  private static let columns = """
    SELECT experiment.experiment_id, experiment.share_permille, margin_percent, days, step_id,
      taken_at, experiment_step.share_permille, experiment.kind, feed, network, setting, salt,
      experiment_step.kind, evidence
    FROM experiment JOIN experiment_step
      ON experiment_step.experiment_id = experiment.experiment_id
    """
  private static let order = "ORDER BY experiment.experiment_id DESC, step_id"

  /// The maximum number of experiments that are searched for those on the same sessions.
  static let history = 1_000
  /// Selects the experiments that run.
  package static let running = ending("last.kind = 'started' OR last.kind = 'ramped'")
  private static let waiting = ending("last.kind = 'suggested'")

  /// Selects the experiments whose last step meets a condition.
  private static func ending(_ condition: String) -> String {
    """
    \(columns) WHERE experiment.experiment_id IN (
      SELECT last.experiment_id FROM experiment_step AS last
      WHERE (\(condition)) AND last.step_id = (
        SELECT max(newest.step_id) FROM experiment_step AS newest
        WHERE newest.experiment_id = last.experiment_id)) \(order)
    """
  }

  /// Selects the experiments of a selection.
  package static func select(_ selection: ExperimentSelection) -> String {
    switch selection {
    case .running: running
    case .waiting: waiting
    case .one(let id): "\(columns) WHERE experiment.experiment_id = \(id) \(order)"
    case .newest(let limit):
      """
      \(columns) WHERE experiment.experiment_id IN (
        SELECT experiment_id FROM experiment ORDER BY experiment_id DESC LIMIT \(limit)) \(order)
      """
    }
  }
}

extension [ExperimentRow] {
  /// Returns the experiments of the rows, in their order.
  ///
  /// - Throws: `PolicyError` for a setting that this program does not understand.
  package func experiments() throws(PolicyError) -> [PolicyExperiment] {
    var found: [PolicyExperiment] = []
    var index = startIndex
    while index < endIndex {
      let first = self[index]
      var steps: [ExperimentStep] = []
      while index < endIndex, self[index].numbers[0] == first.numbers[0] {
        let row = self[index]
        index += 1
        // This program must not act on steps of a kind that only a later program knows.
        let kind = ExperimentStep.Kind(rawValue: row.texts[5] ?? "") ?? .stopped
        steps.append(
          ExperimentStep(
            id: Int(row.numbers[4]), takenAt: Timestamp(microseconds: row.numbers[5]), kind: kind,
            sharePermille: Int(row.numbers[6]), evidence: [UInt8]((row.texts[6] ?? "{}").utf8)))
      }
      var limits = ExperimentLimits()
      limits.sharePermille = Int(first.numbers[1])
      limits.marginPercent = Int(first.numbers[2])
      limits.days = Int(first.numbers[3])
      found.append(
        PolicyExperiment(
          id: Int(first.numbers[0]), kind: first.texts[0] == "holdout" ? .holdout : .trial,
          feed: first.texts[1], network: first.texts[2],
          setting: try ExperimentSetting.policy(
            first.texts[3] ?? "", feed: first.texts[1], network: first.texts[2] ?? ""),
          salt: first.texts[4] ?? "", limits: limits, steps: steps))
    }
    return found
  }
}

/// The setting of an arm, as the column `setting` holds it: columns of `policy`.
package enum ExperimentSetting {
  /// Returns the content of the column.
  package static func text(_ policy: Policy) -> String {
    var writer = JSONWriter(capacity: 256)
    writer.object { writer in
      writer.member("name", policy.name)
      writer.member("strategy", policy.strategy.name)
      writer.object("parameters") { writer in
        for (name, value) in policy.strategy.parameters {
          writer.key(text: name)
          writer.integer(value)
        }
      }
      writer.member("image_weight", policy.imageWeight)
      writer.member("video_weight", policy.videoWeight)
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Returns the policy in a column, or in a row of `policy` (`PolicyRows.row`), where the parameters are a
  /// text.
  static func policy(
    _ text: String, feed: String?, network: String
  ) throws(PolicyError) -> Policy {
    guard let root = try? JSONDocument(Array(text.utf8)).root,
      let name = root.member("name")?.text, let strategy = root.member("strategy")?.text,
      let parameters = root.member("parameters")
    else { throw PolicyError(feed: feed, network: network, strategy: "", reason: .unreadable) }
    let numbers =
      parameters.text ?? String(decoding: Array(text.utf8)[parameters.byteRange], as: UTF8.self)
    func weight(_ name: String, _ usual: Int) -> Int {
      root.member(name)?.wholeNumber.flatMap { (0...1_000).contains($0) ? $0 : nil } ?? usual
    }
    return Policy(
      name: name,
      strategy: try PolicyColumns.strategy(
        name: strategy, parameters: numbers, feed: feed, network: network),
      imageWeight: weight("image_weight", 1), videoWeight: weight("video_weight", 2))
  }
}

extension ExperimentRows {
  /// See `ExperimentStore`.
  ///
  /// - Throws: `ExperimentError`, `PolicyError`, errors of the database.
  package func add(
    _ trial: NewTrial, _ kind: ExperimentStep.Kind, after last: NewestStep?, at time: Timestamp
  ) throws -> Int {
    let known = try networks()
    if let network = trial.network, !known.contains(where: { $0.isSame(as: network) }) {
      throw ExperimentError.unknownNetwork(network, known: known)
    }
    if let feed = trial.feed, try !hasFeed(feed) { throw ExperimentError.unknownFeed(feed) }
    let newest = try selected(ExperimentText.select(.newest(ExperimentText.history))).experiments()
    if let last {
      let now = NewestStep(of: newest, feed: trial.feed, network: trial.network)
      let moved = newest.first { $0.steps.contains { $0.id == now.id } }
      if now != last { throw ExperimentError.hasMovedOn(moved?.id ?? 0) }
    }
    try makeRoom(for: kind, feed: trial.feed, network: trial.network, beside: nil, at: time)
    if kind == .kept,
      let before = newest.first(where: { $0.kind == .trial && $0.isSame(as: trial) }),
      before.steps.last?.kind == .kept
    {
      try insert(
        kind, of: before.id, sharePermille: 0,
        evidence: String(decoding: trial.evidence, as: UTF8.self), at: time)
      return before.id
    }
    let id = try insert(trial, .trial)
    try insert(
      kind, of: id, sharePermille: kind.isRunning ? trial.limits.ramp[0] : 0,
      evidence: String(decoding: trial.evidence, as: UTF8.self), at: time)
    return id
  }

  /// Ends the experiments that another trial on the same sessions replaces.
  private func makeRoom(
    for kind: ExperimentStep.Kind, feed: String?, network: String?, beside own: Int?,
    at time: Timestamp
  ) throws {
    let others = try [ExperimentText.running, ExperimentText.select(.waiting)].flatMap {
      try selected($0).experiments()
    }.filter { $0.id != own && $0.overlaps(feed: feed, network: network) }
    for other in others where other.isRunning && other.kind == .trial {
      throw ExperimentError.overlaps(other.id)
    }
    for other in others where other.isWaiting || kind.isRunning {
      let reason =
        kind == .kept
        ? "nothing better was found" : "another policy is tried instead"
      try insert(
        .ended, of: other.id, sharePermille: 0, evidence: Self.evidence(reason), at: time)
    }
  }

  /// See `ExperimentStore`.
  ///
  /// - Throws: `ExperimentError`, `PolicyError`, errors of the database.
  package func take(
    _ kind: ExperimentStep.Kind, sharePermille: Int, evidence: [UInt8], of id: Int,
    after last: Int?, at time: Timestamp
  ) throws {
    guard let experiment = try selected(ExperimentText.select(.one(id))).experiments().first else {
      throw ExperimentError.unknown(id)
    }
    if let last, experiment.steps.last?.id != last { throw ExperimentError.hasMovedOn(id) }
    if kind == .undone {
      guard experiment.steps.last?.kind == .applied else {
        throw ExperimentError.nothingApplied(id)
      }
      try takeBack(experiment, at: time)
    } else if kind == .started {
      guard experiment.isWaiting else { throw ExperimentError.notWaiting(id) }
      try makeRoom(
        for: kind, feed: experiment.feed, network: experiment.network, beside: id, at: time)
    } else {
      guard experiment.isRunning || experiment.isWaiting && kind == .stopped else {
        throw ExperimentError.isOver(id)
      }
      if kind == .applied { try apply(experiment, evidence, at: time) }
      if kind == .takenBack { try takeBack(experiment, at: time) }
    }
    try insert(
      kind, of: id, sharePermille: sharePermille,
      evidence: String(decoding: evidence, as: UTF8.self), at: time)
  }

  /// Returns the keys of the policies that the experiment is on.
  private func keys(_ experiment: PolicyExperiment) throws -> [PolicyKey] {
    try (experiment.network.map { [$0] } ?? networks()).map {
      PolicyKey(feed: experiment.feed, network: $0)
    }
  }

  private func apply(
    _ experiment: PolicyExperiment, _ evidence: [UInt8], at time: Timestamp
  ) throws {
    for key in try keys(experiment) {
      let before = try row(key) ?? row(PolicyKey(feed: nil, network: key.network))
      do {
        try apply(experiment.setting, to: key, evidence: evidence, at: time)
      } catch PolicyApplicationError.unknownFeed(let name) {
        // The feed was renamed since.
        throw ExperimentError.unknownFeed(name)
      }
      guard let before else { continue }
      let setting = try ExperimentSetting.policy(before, feed: key.feed, network: key.network)
      var limits = experiment.limits
      limits.sharePermille = Self.holdoutPermille
      let holdout = try insert(
        NewTrial(
          feed: key.feed, network: key.network, setting: setting, limits: limits, reason: ""),
        .holdout)
      try insert(
        .started, of: holdout, sharePermille: limits.sharePermille,
        evidence: Self.evidence(
          "experiment \(experiment.id) applied another policy; this is the previous one"),
        at: time)
    }
  }

  /// The share of sessions, in thousandths, that stay with the previous policy.
  private static var holdoutPermille: Int { 50 }

  private func takeBack(_ experiment: PolicyExperiment, at time: Timestamp) throws {
    do {
      for key in try keys(experiment) {
        guard try isOf(experiment, last(key)) else { throw PolicyApplicationError.changedSince }
        try undo(key)
      }
    } catch PolicyApplicationError.changedSince {
      throw ExperimentError.changedSince
    } catch PolicyApplicationError.nothingApplied {
      throw ExperimentError.nothingApplied(experiment.id)
    }
    for other in try selected(ExperimentText.running).experiments()
    where other.id != experiment.id && other.kind == .holdout
      && other.overlaps(feed: experiment.feed, network: experiment.network)
    {
      try insert(
        .ended, of: other.id, sharePermille: 0,
        evidence: Self.evidence("the policy that it was compared with is undone"), at: time)
    }
  }

  /// Whether the last applied setting is the one that the trial tried, or followed the one that the
  /// hold-out keeps: others may have applied another policy since.
  private func isOf(_ experiment: PolicyExperiment, _ last: AppliedSetting?) throws -> Bool {
    guard let last else { return true }
    guard let text = experiment.kind == .trial ? last.applied : last.before else { return true }
    let setting = try ExperimentSetting.policy(
      text, feed: experiment.feed, network: experiment.network ?? "")
    return setting.name == experiment.setting.name
      && setting.strategy == experiment.setting.strategy
  }

  private static func evidence(_ reason: String) -> String {
    var writer = JSONWriter(capacity: 128)
    writer.object { $0.member("reason", reason) }
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

/// The lease that lets one process of a database decide.
package enum LeaseText {
  /// Takes or prolongs the lease. Changes one row if the holder has it afterwards. An end that is farther
  /// ahead than any lease is due to a wrong clock, or from before the machine was restarted.
  ///
  /// - Parameters: the placeholders of the name, the holder and the duration in milliseconds; for the time
  ///   now, in milliseconds, any expression.
  package static func hold(
    name: String, holder: String, milliseconds: String, now: String
  ) -> String {
    """
    INSERT INTO lease (name, holder, held_until)
    VALUES (\(name), \(holder), \(now) + \(milliseconds))
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
    WHERE lease.holder = excluded.holder OR lease.held_until <= \(now)
      OR lease.held_until > \(now) + \(longestMilliseconds)
    """
  }

  /// The maximum duration of a lease.
  package static let longestMilliseconds = 600_000
}
