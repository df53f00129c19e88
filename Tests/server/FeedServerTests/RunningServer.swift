import Catalog
import Feed
import Logging
import MediaFiles
import ModelStore
import Seeding
import TestSupport
import Testing

@testable import FeedServer

/// The application on a model store, on a port of its own, ended with the value.
final class RunningServer: Sendable {
  let folder: TemporaryFolder
  let port: UInt16
  let store: ModelStore
  private let server: ApplicationServer

  convenience init(
    _ records: some Sequence<SeedRecord> = [SeedRecord](),
    configure: (inout ApplicationConfiguration) -> Void = { _ in }
  ) throws {
    let store = ModelStore()
    try store.load(Array(records), batch: 2_000)
    try self.init(on: store, configure: configure)
  }

  /// A server of feed files.
  convenience init(files: [String]) throws {
    let store = ModelStore()
    let report = try Seeder().run(
      try files.map { try SeedInput(path: $0) }, into: store,
      onProblem: { Issue.record("\($0)") }, onProgress: { _ in })
    precondition(report.skipped == 0)
    try self.init(on: store)
  }

  /// A server of a store that may have others.
  init(
    on store: ModelStore, configure: (inout ApplicationConfiguration) -> Void = { _ in }
  ) throws {
    self.store = store
    folder = TemporaryFolder()
    var configuration = ApplicationConfiguration(scratchFolder: folder.path)
    configuration.server.port = 0
    // However busy the machine is.
    configuration.server.headerReadTimeoutMilliseconds = 600_000
    configuration.server.bodyReadTimeoutMilliseconds = 600_000
    configuration.server.idleTimeoutMilliseconds = 600_000
    configuration.server.writeStallTimeoutMilliseconds = 600_000
    configuration.server.answerTimeoutMilliseconds = 600_000
    configure(&configuration)
    let media = try configuration.mediaRoot.map { MediaStorage.folder(try MediaRoot(path: $0)) }
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    server = ApplicationServer(configuration, store: store, media: media, logger: logger)
    port = try server.start()
  }

  deinit {
    server.drain()
    server.wait()
  }

  func client() throws -> TestClient { try TestClient(port: port) }

  func drain() { server.drain() }

  func replace(writeTokens: [WriteToken]) { server.replace(writeTokens: writeTokens) }
}
