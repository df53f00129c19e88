import Feed
import GRDB
import Prefetch
import RowStore
import TestSupport
import Testing

@testable import SQLiteStore

/// Settings that the lab found: applied, shown with what they rest on, taken back.
@Suite struct AppliedPolicyTests {
  let folder = TemporaryFolder()

  private static let setting = Policy(
    name: "max=7", strategy: .weighted(leading: 20, maxCost: 7), imageWeight: 3, videoWeight: 4)
  private static let evidence = Array(#"{"seed":1}"#.utf8)
  private static let time = Timestamp(microseconds: 1_700_000_000_000_000)

  private func store() throws -> SQLiteStore {
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    try store.load([.ranked("a", 1)])
    return store
  }

  private func rows(_ store: SQLiteStore) throws -> [Row] {
    try store.pool.read { try Row.fetchAll($0, sql: "SELECT * FROM policy ORDER BY policy_id") }
  }

  private func inForce(_ store: SQLiteStore, _ feed: String?, _ network: String = "3g") throws
    -> (policy: Policy, evidence: PolicyEvidence?)
  {
    let book = try store.snapshot().policyBook
    let profile = try #require(book.networks.first { $0.name == network })
    return (
      book.policy(feed: feed, network: profile), book.evidence(feed: feed, network: profile)
    )
  }

  private func apply(_ store: SQLiteStore, _ setting: Policy = setting, feed: String? = "featured")
    throws
  {
    try store.apply(
      setting, feed: feed, network: "3g", evidence: Self.evidence, at: Self.time)
  }

  @Test func `what is applied is in force at once, and undone it is as if it had never been`()
    throws
  {
    let store = try store()
    let before = try rows(store)
    let other = try inForce(store, "featured", "lte").policy
    try apply(store)
    let (policy, evidence) = try inForce(store, "featured")
    #expect(policy.name == "max=7" && policy.strategy == Self.setting.strategy)
    #expect(policy.imageWeight == 3 && policy.videoWeight == 4 && policy.trailing == 1)
    #expect(evidence == PolicyEvidence(appliedAt: Self.time, json: Self.evidence))
    let elsewhere = try inForce(store, "featured", "lte")
    #expect(elsewhere.policy == other && elsewhere.evidence == nil)
    try store.undoPolicy(feed: "featured", network: "3g")
    #expect(try rows(store) == before)
    #expect(try inForce(store, "featured").evidence == nil)
    #expect(throws: PolicyApplicationError.nothingApplied) {
      try store.undoPolicy(feed: "featured", network: "3g")
    }
  }

  @Test func `settings are taken back one by one, the last one first`() throws {
    let store = try store()
    let before = try rows(store)
    var second = Self.setting
    second.strategy = .plain(leading: 2)
    try apply(store)
    try apply(store, second)
    #expect(try inForce(store, "featured").policy.strategy == second.strategy)
    try store.undoPolicy(feed: "featured", network: "3g")
    #expect(try inForce(store, "featured").policy.strategy == Self.setting.strategy)
    // What is in force again shows what it rests on again.
    #expect(try inForce(store, "featured").evidence != nil)
    try store.undoPolicy(feed: "featured", network: "3g")
    #expect(try rows(store) == before)
  }

  @Test func `a feed that had no policy of its own has none again`() throws {
    let store = try store()
    try store.load([.ranked("b", 1, feed: "other")])
    let before = try rows(store)
    try apply(store, feed: "other")
    let policy = try inForce(store, "other").policy
    #expect(policy.strategy == Self.setting.strategy && policy.videoBytes == 2_097_152)
    #expect(try rows(store).count == before.count + 1)
    // All other feeds have what they had.
    #expect(try inForce(store, nil).evidence == nil)
    try store.undoPolicy(feed: "other", network: "3g")
    #expect(try rows(store) == before)
  }

  @Test func `the policy of all feeds shows its evidence for those that have no other`() throws {
    let store = try store()
    try store.load([.ranked("b", 1, feed: "other")])
    try apply(store, feed: nil)
    #expect(try inForce(store, "other").evidence != nil)
    #expect(try inForce(store, "featured").evidence == nil)
    try store.undoPolicy(feed: nil, network: "3g")
    #expect(try inForce(store, "other").evidence == nil)
  }

  @Test func `what somebody wrote since is neither shown as the lab's nor undone`() throws {
    let store = try store()
    try apply(store)
    try store.pool.write {
      try $0.execute(
        sql: "UPDATE policy SET trailing = 3 WHERE feed = 'featured' AND network = '3g'")
    }
    try store.refresh()
    #expect(try inForce(store, "featured").evidence == nil)
    #expect(throws: PolicyApplicationError.changedSince) {
      try store.undoPolicy(feed: "featured", network: "3g")
    }
    #expect(try inForce(store, "featured").policy.trailing == 3)
  }

  @Test func `what is not there is refused by name, and nothing is changed`() throws {
    let store = try store()
    let before = try rows(store)
    #expect(throws: PolicyApplicationError.unknownFeed("nope")) { try apply(store, feed: "nope") }
    let error = #expect(throws: PolicyApplicationError.self) {
      try store.apply(
        Self.setting, feed: nil, network: "5g", evidence: Self.evidence, at: Self.time)
    }
    #expect(
      error?.description.hasPrefix("there is no network \"5g\"; known networks: 3g, dsl") == true)
    // Evidence that is none, and too much of it.
    for evidence in [
      Array("[]".utf8), Array("{".utf8),
      Array("{\"a\":\"\(String(repeating: "x", count: 70_000))\"}".utf8),
    ] {
      #expect(throws: (any Error).self) {
        try store.apply(
          Self.setting, feed: "featured", network: "3g", evidence: evidence, at: Self.time)
      }
    }
    #expect(try rows(store) == before)
  }

  @Test func `of what was applied the last hundred are kept`() throws {
    let store = try store()
    for number in 0..<103 {
      var setting = Self.setting
      setting.strategy = .plain(leading: number % 90)
      try apply(store, setting)
    }
    for _ in 0..<100 { try store.undoPolicy(feed: "featured", network: "3g") }
    #expect(try inForce(store, "featured").policy.strategy == .plain(leading: 2))
    #expect(throws: PolicyApplicationError.nothingApplied) {
      try store.undoPolicy(feed: "featured", network: "3g")
    }
  }
}
