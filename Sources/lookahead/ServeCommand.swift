import ArgumentParser
import CoreMetrics
import FeedServer
import Foundation
import Logging
import SQLiteStore
import Sockets

struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve the feeds, migrating the database first if needed.",
    discussion: """
      SIGTERM or SIGINT ends it without losing a request: /readyz turns 503, nothing more is accepted, \
      requests in flight finish, and the exit status is 0.
      """)

  @OptionGroup var options: DatabaseOptions
  @OptionGroup(title: "Listening") var listening: ListeningOptions
  @OptionGroup(title: "Limits of messages") var messages: MessageOptions
  @OptionGroup(title: "Limits of connections") var connections: ConnectionOptions
  @OptionGroup(title: "Clients") var clients: ClientOptions
  @OptionGroup(title: "Pages") var pages: PageOptions
  @OptionGroup(title: "Media") var media: MediaOptions
  @OptionGroup(title: "Writes") var writes: WriteOptions
  @OptionGroup(title: "Care of the database") var care: CareOptions
  @OptionGroup(title: "Log") var log: LogOptions

  func run() throws {
    // Before any thread is started, so that every thread blocks them.
    Signals.block()
    var configuration = FeedServiceConfiguration(databasePath: options.database)
    configuration.store.file = options.file
    listening.apply(to: &configuration.server)
    messages.apply(to: &configuration.server)
    connections.apply(to: &configuration.server)
    pages.apply(to: &configuration)
    media.apply(to: &configuration)
    care.apply(to: &configuration)
    try clients.apply(to: &configuration)
    try writes.apply(to: &configuration)
    let sink = log.bootstrap()
    defer { sink.flush() }
    log.apply(to: &configuration, sink)
    MetricsSystem.bootstrap(configuration.figures)

    let service = try FeedService(configuration, logger: Logger(label: "lookahead"))
    let port = try service.start()
    print("serving \(options.database) on http://\(listening.urlHost):\(port)/")
    fflush(nil)
    while Signals.wait() == .hangUp {}
    service.drain()
    try service.wait()
  }
}
