import Feed
import Prefetch

/// The rows of policies and of applied settings in one kind of database, within a transaction.
package protocol PolicyRows {
  /// Returns the names of all networks, in their order.
  func networks() throws -> [String]
  /// Whether there is a feed of this name.
  func hasFeed(_ name: String) throws -> Bool
  /// Returns the columns `PolicyColumns.all` of a policy as a JSON object; `nil` if the policy does not exist.
  func row(_ key: PolicyKey) throws -> String?
  /// Adds a copy of the policy for all feeds, or, if that is absent, a policy with default values.
  func add(_ key: PolicyKey) throws
  /// Writes the name, the strategy, its parameters, and the weights of images and videos.
  func set(_ setting: Policy, _ key: PolicyKey) throws
  /// Records an applied setting, and deletes all but the newest `PolicyColumns.keptApplications`.
  func note(
    _ key: PolicyKey, _ time: Timestamp, evidence: String, before: String?, applied: String) throws
  /// Returns the setting that was applied last; `nil` if none was.
  func last(_ key: PolicyKey) throws -> AppliedSetting?
  /// Restores the row from before the setting, and deletes the record of the setting.
  func restore(_ last: AppliedSetting, _ key: PolicyKey) throws
}

/// The feed and the network of a policy.
package struct PolicyKey {
  /// The feed; `nil` for all feeds without their own policy.
  package let feed: String?
  /// The network.
  package let network: String

  /// Creates the key of the policy of a feed, or of all feeds, on a network.
  package init(feed: String?, network: String) { (self.feed, self.network) = (feed, network) }
}

/// A setting that was applied to a policy, and the row before.
package struct AppliedSetting {
  /// The number of its row.
  package let id: Int64
  /// The row before, as `PolicyRows.row` returns it; `nil` if there was none.
  package let before: String?
  /// The row afterwards.
  package let applied: String

  /// Creates a setting from the columns of its row.
  package init(id: Int64, before: String?, applied: String) {
    (self.id, self.before, self.applied) = (id, before, applied)
  }
}

extension PolicyRows {
  /// See `DatabaseStore.apply`.
  ///
  /// - Throws: `PolicyApplicationError`, errors of the database.
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
  /// - Throws: `PolicyApplicationError`, errors of the database.
  package func undo(_ key: PolicyKey) throws {
    guard let last = try last(key) else { throw PolicyApplicationError.nothingApplied }
    guard try row(key) == last.applied else { throw PolicyApplicationError.changedSince }
    try restore(last, key)
  }
}

/// The reason why a setting is not applied or not undone.
package enum PolicyApplicationError: Error, Hashable, Sendable {
  /// There is no feed of this name.
  case unknownFeed(String)
  /// There is no network of this name; `known` has the existing ones.
  case unknownNetwork(String, known: [String])
  /// No applied setting is left to undo.
  case nothingApplied
  /// The policy is no longer the applied one: it was written since.
  case changedSince
}

extension PolicyApplicationError: CustomStringConvertible {
  /// For example `there is no network "5g"; known networks: 3g, wifi`.
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
