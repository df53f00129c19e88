import Feed
import Prefetch

/// The rows of policies and of what was applied, as one kind of database has them, within a transaction.
package protocol PolicyRows {
  /// The names of all networks, in their order.
  func networks() throws -> [String]
  /// Whether there is a feed of this name.
  func hasFeed(_ name: String) throws -> Bool
  /// The columns `PolicyColumns.all` of a policy as a JSON object; `nil` if the policy does not exist.
  func row(_ key: PolicyKey) throws -> String?
  /// Adds a copy of the policy for all feeds, or, if that is absent, a policy with the usual numbers.
  func add(_ key: PolicyKey) throws
  /// Writes name, strategy, parameters, and what images and videos weigh.
  func set(_ setting: Policy, _ key: PolicyKey) throws
  /// Notes what was applied, and forgets what was applied before `PolicyColumns.keptApplications` others.
  func note(
    _ key: PolicyKey, _ time: Timestamp, evidence: String, before: String?, applied: String) throws
  /// What was applied last; `nil` where nothing was.
  func last(_ key: PolicyKey) throws -> AppliedSetting?
  /// Puts back what stood there before, and forgets that it was applied.
  func restore(_ last: AppliedSetting, _ key: PolicyKey) throws
}

/// Whose policy it is.
package struct PolicyKey {
  /// `nil` for all feeds without their own policy.
  package let feed: String?
  /// The network.
  package let network: String

  /// The key of the policy of a feed, or of all, on a network.
  package init(feed: String?, network: String) { (self.feed, self.network) = (feed, network) }
}

/// What was applied to a policy, and what stood there before.
package struct AppliedSetting {
  /// Its number.
  package let id: Int64
  /// The row before, as `PolicyRows.row` has it; `nil` where there was none.
  package let before: String?
  /// The row afterwards.
  package let applied: String

  /// What was applied, as its row has it.
  package init(id: Int64, before: String?, applied: String) {
    (self.id, self.before, self.applied) = (id, before, applied)
  }
}

extension PolicyRows {
  /// See `DatabaseStore.apply`.
  ///
  /// - Throws: `PolicyApplicationError`, what the database says.
  package func apply(
    _ setting: Policy, to key: PolicyKey, evidence: [UInt8], at time: Timestamp
  ) throws {
    let known = try networks()
    guard known.contains(where: { $0.isSame(as: key.network) }) else {
      throw PolicyApplicationError.unknownNetwork(key.network, known: known)
    }
    if let feed = key.feed, try !hasFeed(feed) { throw PolicyApplicationError.unknownFeed(feed) }
    let before = try row(key)
    if before == nil { try add(key) }
    try set(setting, key)
    guard let applied = try row(key) else { return }
    try note(
      key, time, evidence: String(decoding: evidence, as: UTF8.self), before: before,
      applied: applied)
  }

  /// See `DatabaseStore.undoPolicy`.
  ///
  /// - Throws: `PolicyApplicationError`, what the database says.
  package func undo(_ key: PolicyKey) throws {
    guard let last = try last(key) else { throw PolicyApplicationError.nothingApplied }
    guard try row(key) == last.applied else { throw PolicyApplicationError.changedSince }
    try restore(last, key)
  }
}

/// Why a setting is not applied, or not taken back.
package enum PolicyApplicationError: Error, Hashable, Sendable {
  /// There is no feed of this name.
  case unknownFeed(String)
  /// There is no network of this name, but these.
  case unknownNetwork(String, known: [String])
  /// No setting was applied that has not been taken back.
  case nothingApplied
  /// The policy is no longer what was applied: it was written since.
  case changedSince
}

extension PolicyApplicationError: CustomStringConvertible {
  /// For example `there is no network "5g", but 3g, wifi`.
  package var description: String {
    switch self {
    case .unknownFeed(let name): "there is no feed \"\(name)\""
    case .unknownNetwork(let name, let known):
      "there is no network \"\(name)\"; known networks: \(known.joined(separator: ", "))"
    case .nothingApplied: "there is no applied setting to undo"
    case .changedSince: "the policy was changed since: it is no longer the applied one"
    }
  }
}
