import Catalog
import Experiments
import Feed
import Prefetch

extension ModelStore: ExperimentStore {
  package func experiments(_ selection: ExperimentSelection) throws -> [PolicyExperiment] {
    let all = current.state.policies.experiments.reversed()
    return switch selection {
    case .newest(let limit): Array(all.prefix(limit))
    case .running: all.filter(\.isRunning)
    case .waiting: all.filter(\.isWaiting)
    case .one(let id): all.filter { $0.id == id }
    }
  }

  package func add(
    _ trial: NewTrial, _ kind: ExperimentStep.Kind, after last: NewestStep?, at time: Timestamp
  ) throws -> Int {
    try change { state in
      let networks = state.policies.networks.map(\.name)
      if let network = trial.network, !networks.contains(network) {
        throw ExperimentError.unknownNetwork(network, known: networks.sorted())
      }
      if let feed = trial.feed, state.feeds[feed] == nil { throw ExperimentError.unknownFeed(feed) }
      let all = state.policies.experiments
      if let last {
        let now = NewestStep(of: all, feed: trial.feed, network: trial.network)
        let moved = all.first { $0.steps.contains { $0.id == now.id } }
        if now != last { throw ExperimentError.hasMovedOn(moved?.id ?? 0) }
      }
      try state.policies.makeRoom(for: kind, trial.feed, trial.network, beside: nil, time)
      state.changed.areSettings = true
      if kind == .kept, let before = all.last(where: { $0.kind == .trial && $0.isSame(as: trial) }),
        before.steps.last?.kind == .kept
      {
        state.policies.add(kind, to: before.id, share: 0, trial.evidence, time)
        return before.id
      }
      return state.policies.add(trial, .trial, kind, time)
    }
  }

  package func take(
    _ kind: ExperimentStep.Kind, sharePermille: Int, evidence: [UInt8], of id: Int,
    after last: Int?, at time: Timestamp
  ) throws {
    try change { state in
      guard let experiment = state.policies.experiments.first(where: { $0.id == id }) else {
        throw ExperimentError.unknown(id)
      }
      if let last, experiment.steps.last?.id != last { throw ExperimentError.hasMovedOn(id) }
      if kind == .undone {
        guard experiment.steps.last?.kind == .applied else {
          throw ExperimentError.nothingApplied(id)
        }
      } else if kind == .started {
        guard experiment.isWaiting else { throw ExperimentError.notWaiting(id) }
        try state.policies.makeRoom(
          for: kind, experiment.feed, experiment.network, beside: id, time)
      } else {
        guard experiment.isRunning || experiment.isWaiting && kind == .stopped else {
          throw ExperimentError.isOver(id)
        }
      }
      if kind == .applied { state.policies.apply(experiment, time) }
      if kind == .undone || kind == .takenBack { try state.policies.takeBack(experiment, time) }
      state.policies.add(kind, to: id, share: sharePermille, evidence, time)
      state.changed.areSettings = true
    }
  }

  package func holdLease(
    _ name: String, holder: String, milliseconds: Int, now: Int64
  ) throws -> Bool {
    change { state in
      let known = state.policies.leases[name]
      if let known, known.holder != holder, known.until > now, known.until <= now + 600_000 {
        return false
      }
      state.policies.leases[name] = (holder, now + Int64(milliseconds))
      return true
    }
  }
}

extension ModelPolicies {
  private var lastStep: Int { experiments.flatMap { $0.steps.map(\.id) }.max() ?? 0 }

  mutating func makeRoom(
    for kind: ExperimentStep.Kind, _ feed: String?, _ network: String?, beside own: Int?,
    _ time: Timestamp
  ) throws {
    let others = experiments.filter { $0.id != own && $0.overlaps(feed: feed, network: network) }
    for other in others where other.isRunning && other.kind == .trial {
      throw ExperimentError.overlaps(other.id)
    }
    for other in others where other.isWaiting || other.isRunning && kind.isRunning {
      add(.ended, to: other.id, share: 0, [], time)
    }
  }

  mutating func add(
    _ trial: NewTrial, _ kind: PolicyExperiment.Kind, _ first: ExperimentStep.Kind,
    _ time: Timestamp
  ) -> Int {
    let id = experiments.count + 1
    let share =
      !first.isRunning
      ? 0 : kind == .trial ? trial.limits.ramp[0] : trial.limits.sharePermille
    experiments.append(
      PolicyExperiment(
        id: id, kind: kind, feed: trial.feed, network: trial.network, setting: trial.setting,
        salt: trial.salt, limits: trial.limits, steps: []))
    add(first, to: id, share: share, trial.evidence, time)
    return id
  }

  mutating func add(
    _ kind: ExperimentStep.Kind, to id: Int, share: Int, _ evidence: [UInt8], _ time: Timestamp
  ) {
    let old = experiments[id - 1]
    let step = ExperimentStep(
      id: lastStep + 1, takenAt: time, kind: kind, sharePermille: share,
      evidence: evidence.isEmpty ? Array("{}".utf8) : evidence)
    experiments[id - 1] = PolicyExperiment(
      id: id, kind: old.kind, feed: old.feed, network: old.network, setting: old.setting,
      salt: old.salt, limits: old.limits, steps: old.steps + [step])
  }

  private func keys(_ experiment: PolicyExperiment) -> [PolicyBook.Key] {
    (experiment.network.map { [$0] } ?? networks.map(\.name).sorted()).map {
      PolicyBook.Key(feed: experiment.feed, network: $0)
    }
  }

  mutating func apply(_ experiment: PolicyExperiment, _ time: Timestamp) {
    for key in keys(experiment) {
      let inForce = policies[key] ?? policies[.init(feed: nil, network: key.network)]
      before[experiment.id, default: [:]][key] = .some(policies[key])
      guard let inForce else { continue }
      policies[key] = inForce.with(experiment.setting)
      var limits = experiment.limits
      limits.sharePermille = 50
      let holdout = add(
        NewTrial(
          feed: key.feed, network: key.network, setting: inForce, limits: limits, reason: ""),
        .holdout, .started, time)
      before[holdout] = [key: before[experiment.id]?[key] ?? nil]
    }
  }

  mutating func takeBack(_ experiment: PolicyExperiment, _ time: Timestamp) throws {
    guard let known = before[experiment.id] else {
      throw ExperimentError.nothingApplied(experiment.id)
    }
    if experiment.kind == .trial,
      known.contains(where: { policies[$0.key]?.name != experiment.setting.name })
    {
      throw ExperimentError.changedSince
    }
    for (key, policy) in known { policies[key] = policy }
    for (id, others) in before where others.contains(where: { known[$0.key] == $0.value }) {
      before[id] = nil
    }
    for other in experiments
    where other.id != experiment.id && other.isRunning && other.kind == .holdout
      && other.overlaps(feed: experiment.feed, network: experiment.network)
    {
      add(.ended, to: other.id, share: 0, [], time)
    }
  }
}
