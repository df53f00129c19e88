import ArgumentParser
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
  @OptionGroup(title: "Pages") var pages: PageOptions

  func run() throws {
    // Before any thread is started, so that every thread blocks them.
    Signals.block()
    let level = listening.logLevel
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
    var configuration = FeedServiceConfiguration(databasePath: options.database)
    configuration.store.file = options.file
    listening.apply(to: &configuration.server)
    messages.apply(to: &configuration.server)
    connections.apply(to: &configuration.server)
    pages.apply(to: &configuration)

    let service = try FeedService(configuration, logger: Logger(label: "lookahead"))
    let port = try service.start()
    print("serving \(options.database) on http://\(listening.urlHost):\(port)/")
    fflush(nil)
    while Signals.wait() == .hangUp {}
    service.drain()
    try service.wait()
  }
}
