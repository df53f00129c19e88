import Foundation
import GRDB
import Logging
import Observability
import Prefetch
import TestSupport
import Testing

@testable import Service
@testable import SQLiteStore

/// A policy that this program does not understand, as a newer one may write it.
@Suite struct PolicyServiceTests {
  let folder = TemporaryFolder()
  var database: String { folder.file("feed.sqlite") }

  private static let change = """
    DROP TRIGGER IF EXISTS policy_checked_again;
    UPDATE policy SET strategy = 'later' WHERE feed = 'featured' AND network = '3g';
    UPDATE policy SET trailing = 9 WHERE feed = 'featured'
    """
  private static let mend = """
    UPDATE policy SET strategy = 'weighted', parameters = '{"leading":8,"maxCost":4}'
      WHERE feed = 'featured' AND network = '3g'
    """

  private func write(_ sql: String) throws {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    try DatabaseQueue(path: database, configuration: configuration).write {
      try $0.execute(sql: sql)
    }
  }

  private func make(_ log: LogSink? = nil) throws -> FeedService {
    var configuration = FeedServiceConfiguration(databasePath: database)
    configuration.application.server.port = 0
    let logger = Logger(label: "test") { label in
      guard let log else { return SwiftLogNoOpLogHandler() }
      return LineLogHandler(label: label, sink: log, logLevel: .notice)
    }
    return try FeedService(configuration, logger: logger)
  }

  /// The figure follows the answers: the thread that takes policies records it after it has published them.
  private func expectRefused(_ count: Int, _ client: TestClient) throws {
    let line = "\nlookahead_refused_policies \(count)\n"
    #expect(try eventually { try client.get("/metrics").text.contains(line) })
  }

  /// The value in `/v1/networks` of this network, as of when it is so.
  private func networks(_ client: TestClient, until condition: (TestAnswer) -> Bool) throws
    -> TestAnswer
  {
    var answer = try client.get("/v1/networks?feed=featured")
    try eventually {
      if condition(answer) { return true }
      answer = try client.get("/v1/networks?feed=featured")
      return false
    }
    return answer
  }

  @Test
  func `a server that runs goes on with the policies of before, and names the one that is wrong`()
    throws
  {
    let store = try SQLiteStore(path: database)
    try store.load([.ranked("a", 1)])
    try store.close()
    let path = try folder.write("", to: "log")
    let file = try LogFile(path: path)
    let sink = LogSink(descriptor: file.descriptor, format: .text)
    let service = try make(sink)
    let client = try TestClient(port: try service.start())
    let before = try client.get("/v1/networks?feed=featured")
    #expect(before.text.contains(#""strategy":"plain","parameters":{"leading":5}"#))
    #expect(!before.text.contains("problem"))

    try write(Self.change)
    let during = try networks(client) { $0.text.contains("problem") }
    #expect(
      during.text.contains(
        #","problem":{"feed":"featured","network":"3g","strategy":"later","detail":"the policy of the "#
          + #"feed \"featured\" on the network \"3g\" has the strategy \"later\": there is no strategy "#
          + #"\"later\"; the known ones are plain, "#), "\(during.text)")
    // All that stood there before, and nothing of what was written.
    #expect(during.text.hasPrefix(before.text.dropLast()))
    #expect(try client.get("/readyz").status == 200)
    #expect(try client.get("/rp/?feed=featured").text.contains(#""policy":"plain-5""#))
    try expectRefused(1, client)

    try write(Self.mend)
    let after = try networks(client) { !$0.text.contains("problem") }
    #expect(after.text.contains(#""strategy":"weighted","parameters":{"leading":8,"maxCost":4}"#))
    #expect(after.text.contains(#""trailing":9"#))
    try expectRefused(0, client)
    service.drain()
    try service.wait()
    sink.flush()
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    #expect(lines.count { $0.contains("policies not applied") && $0.contains("later") } == 1)
    #expect(lines.count { $0.contains("policies applied") } == 1)
  }

  @Test func `a server does not start with it, and says which it is`() throws {
    try SQLiteStore(path: database).close()
    try write(Self.change)
    let error = #expect(throws: PolicyError.self) { _ = try make() }
    #expect(
      error
        == PolicyError(
          feed: "featured", network: "3g", strategy: "later", reason: .unknown("later")))
    try write(Self.mend)
    let service = try make()
    let client = try TestClient(port: try service.start())
    #expect(try client.get("/v1/networks").status == 200)
    service.drain()
    try service.wait()
  }
}
