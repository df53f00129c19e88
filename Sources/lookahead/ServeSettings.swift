import ArgumentParser
import Service

/// All that `serve` can be told: the same for who serves and for who only asks what would be.
struct ServeSettings: ParsableArguments {
  @OptionGroup var database: DatabaseOptions
  @OptionGroup(title: "Listening") var listening: ListeningOptions
  @OptionGroup(title: "Limits of messages") var messages: MessageOptions
  @OptionGroup(title: "Limits of connections") var connections: ConnectionOptions
  @OptionGroup(title: "Clients") var clients: ClientOptions
  @OptionGroup(title: "Pages") var pages: PageOptions
  @OptionGroup(title: "Media") var media: MediaOptions
  @OptionGroup(title: "Writes") var writes: WriteOptions
  @OptionGroup(title: "Care of the database") var care: CareOptions
  @OptionGroup(title: "Log") var log: LogOptions

  func validate() throws { try requireInRange(list) }

  /// The service's configuration, but for the log.
  ///
  /// - Throws: `ValidationError`.
  func configuration() throws -> FeedServiceConfiguration {
    var configuration = FeedServiceConfiguration(databasePath: database.database)
    configuration.store.file = database.file
    listening.apply(to: &configuration.application.server)
    messages.apply(to: &configuration.application.server)
    connections.apply(to: &configuration.application.server)
    pages.apply(to: &configuration)
    media.apply(to: &configuration)
    care.apply(to: &configuration)
    try clients.apply(to: &configuration)
    try writes.apply(to: &configuration)
    return configuration
  }
}
