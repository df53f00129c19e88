import Feed
import Foundation
import Logging
import Prefetch
import SQLiteStore
import TestSupport
import Testing

@testable import Service

/// What `lookahead lab apply` writes reaches every server of the database.
@Suite struct AppliedPolicyServiceTests {
  let folder = TemporaryFolder()
  private var database: String { folder.file("feed.sqlite") }

  private func serve() throws -> (FeedService, TestClient) {
    var configuration = FeedServiceConfiguration(databasePath: database)
    configuration.application.server.port = 0
    let service = try FeedService(
      configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    return (service, try TestClient(port: try service.start()))
  }

  /// The page and the networks, as of when the page has this policy.
  private func answers(_ client: TestClient, policy: String) throws -> (
    page: String, networks: String
  ) {
    var page = ""
    let hasPolicy = try eventually {
      page = try client.get("/rp/?feed=featured&network=3g").text
      return page.contains("\"policy\":\"\(policy)\"")
    }
    try #require(hasPolicy, "no page has the policy \(policy)")
    return (page, try client.get("/v1/networks?feed=featured").text)
  }

  @Test
  func `applied, a setting changes the hints of two servers at once; undone, it restores them`()
    throws
  {
    let store = try SQLiteStore(path: database)
    try store.load((1...5).map { .ranked("p\($0)", $0) })
    let servers = try [serve(), serve()]
    let before = try servers.map { try answers($0.1, policy: "plain-5") }
    let setting = Policy(
      name: "max=2 video=9 image=2", strategy: .weighted(leading: 20, maxCost: 2), imageWeight: 2,
      videoWeight: 9)
    try store.apply(
      setting, feed: "featured", network: "3g", evidence: Array(#"{"seed":7}"#.utf8),
      at: Timestamp(microseconds: 1_750_000_000_000_000))
    for (server, old) in zip(servers, before) {
      let (page, networks) = try answers(server.1, policy: setting.name)
      // Of five items that weigh 2 one is carried, and each item says what it weighs.
      #expect(page != old.page && page.contains("\"weight\":2"), "\(page)")
      #expect(
        networks.contains(
          #","evidence":{"appliedAt":"2025-06-15T15:06:40Z","lab":{"seed":7}}}"#), "\(networks)")
      #expect(!old.networks.contains("evidence"))
    }
    try store.undoPolicy(feed: "featured", network: "3g")
    for (server, old) in zip(servers, before) {
      let (page, networks) = try answers(server.1, policy: "plain-5")
      #expect(page == old.page && networks == old.networks)
    }
    for (service, _) in servers {
      service.drain()
      try service.wait()
    }
    try store.close()
  }
}
