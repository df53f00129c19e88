import ArgumentParser
import Service

/// All settings of `serve`: the same for a server and for a command that only shows them.
struct ServeSettings: ParsableArguments {
  @OptionGroup var database: DatabaseOptions
  @OptionGroup var standby: StandbyOptions
  @OptionGroup(title: "Listening") var listening: ListeningOptions
  @OptionGroup(title: "Limits of messages") var messages: MessageOptions
  @OptionGroup(title: "Limits of connections") var connections: ConnectionOptions
  @OptionGroup(title: "Clients") var clients: ClientOptions
  @OptionGroup(title: "Pages") var pages: PageOptions
  @OptionGroup(title: "Caches in front") var caches: CacheOptions
  @OptionGroup(title: "Media") var media: MediaOptions
  @OptionGroup(title: "Writes") var writes: WriteOptions
  @OptionGroup(title: "Webhooks") var hooks: WebhookOptions
  @OptionGroup(title: "Loading") var loading: LoadingOptions
  @OptionGroup(title: "Care of the database") var care: CareOptions
  @OptionGroup(title: "Reports of clients") var reports: ReportOptions
  @OptionGroup(title: "Tuning") var tuning: TuneOptions
  @OptionGroup(title: "Log and figures") var log: LogOptions

  /// Every setting, in the order of the help.
  var list: [Setting] { Setting.list(of: self) }

  func validate() throws { try Setting.validate(self) }

  /// The service's configuration, but for the log.
  ///
  /// - Throws: `ValidationError`.
  func configuration() throws -> FeedServiceConfiguration {
    var configuration = FeedServiceConfiguration(try database.location())
    Setting.apply(list, to: &configuration)
    configuration.opening.connections.standby = try standby.address()
    configuration.application.server.host = listening.host
    configuration.application.server.sharesPort = listening.sharePort
    configuration.application.publicURL = try listening.publicURL()
    configuration.application.allowedHosts = try listening.allowedHosts()
    configuration.application.cacheKeyField = try caches.keyField()
    configuration.application.purgeTargets = try caches.targets()
    configuration.application.mediaRoot = media.mediaRoot
    configuration.application.mediaDelivery = try media.delivery()
    configuration.application.mediaSpoolFolder = media.mediaSpoolFolder
    configuration.application.mediaSigningKeys = try media.signingKeys()
    configuration.application.trustedProxies = try clients.blocks()
    configuration.application.writeTokens = try writes.tokens()
    configuration.application.webhooks.targets = try hooks.targets()
    configuration.application.hasPage = pages.page
    configuration.application.labReport = pages.labReport
    configuration.application.reports.taken = reports.reports
    configuration.application.reports.keys = try reports.keys()
    configuration.application.reports.recordFolder = reports.recordFolder
    configuration.mediaProbing.decoding = media.decoding.settings
    configuration.backups = care.backups
    configuration.tuning.mode = tuning.tune
    configuration.tuning.environment = tuning.environment(database: database.database)
    return configuration
  }
}
