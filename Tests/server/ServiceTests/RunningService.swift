import Feed
import Service
import Logging
import SQLiteStore
import TestSupport
import Testing

/// A service on a database and a port of its own, ended with the value.
final class RunningService: Sendable {
  /// What writers present, where a test lets them write.
  static let token = "a-token-of-the-tests"
  static let authorized = ["Authorization": "Bearer a-token-of-the-tests"]

  let folder = TemporaryFolder()
  let port: UInt16
  let databasePath: String
  private let service: FeedService

  init(
    _ records: some Sequence<SeedRecord> = [SeedRecord](),
    configure: (inout FeedServiceConfiguration) -> Void = { _ in }
  ) throws {
    databasePath = folder.file("feed.sqlite")
    let store = try SQLiteStore(path: databasePath)
    try store.load(Array(records), batch: 2_000)
    try store.close()
    (service, port) = try Self.start(databasePath, configure)
  }

  /// A second service on the database of another, as a second process would be.
  init(
    beside other: RunningService, configure: (inout FeedServiceConfiguration) -> Void = { _ in }
  ) throws {
    databasePath = other.databasePath
    (service, port) = try Self.start(databasePath, configure)
  }

  private static func start(
    _ path: String, _ configure: (inout FeedServiceConfiguration) -> Void
  ) throws -> (FeedService, UInt16) {
    var configuration = FeedServiceConfiguration(databasePath: path)
    configuration.application.server.port = 0
    // However busy the machine is.
    configuration.application.server.headerReadTimeoutMilliseconds = 600_000
    configuration.application.server.bodyReadTimeoutMilliseconds = 600_000
    configuration.application.server.idleTimeoutMilliseconds = 600_000
    configuration.application.server.writeStallTimeoutMilliseconds = 600_000
    configuration.application.server.answerTimeoutMilliseconds = 600_000
    configuration.refreshIntervalMilliseconds = 5
    configure(&configuration)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let service = try FeedService(configuration, logger: logger)
    return (service, try service.start())
  }

  deinit {
    service.drain()
    try? service.wait()
  }

  func client() throws -> TestClient { try TestClient(port: port) }

  func drain() { service.drain() }
}
