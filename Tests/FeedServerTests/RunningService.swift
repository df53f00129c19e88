import Feed
import FeedServer
import Logging
import SQLiteStore
import Seeding
import TestSupport
import Testing

/// A service on a database and a port of its own, ended with the value.
final class RunningService: Sendable {
  let folder = TemporaryFolder()
  let port: UInt16
  private let service: FeedService

  var databasePath: String { folder.file("feed.sqlite") }

  init(
    _ records: some Sequence<SeedRecord> = [SeedRecord](),
    configure: (inout FeedServiceConfiguration) -> Void = { _ in }
  ) throws {
    let path = folder.file("feed.sqlite")
    let store = try SQLiteStore(path: path)
    try store.load(Array(records), batch: 2_000)
    try store.close()
    (service, port) = try Self.start(path, configure)
  }

  /// A service on feed files.
  init(files: [String]) throws {
    let path = folder.file("feed.sqlite")
    let store = try SQLiteStore(path: path)
    let report = try Seeder().run(
      try files.map { try SeedInput(path: $0) }, into: store,
      onProblem: { Issue.record("\($0)") }, onProgress: { _ in })
    precondition(report.skipped == 0)
    try store.close()
    (service, port) = try Self.start(path) { _ in }
  }

  private static func start(
    _ path: String, _ configure: (inout FeedServiceConfiguration) -> Void
  ) throws -> (FeedService, UInt16) {
    var configuration = FeedServiceConfiguration(databasePath: path)
    configuration.server.port = 0
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
