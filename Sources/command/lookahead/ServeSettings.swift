import ArgumentParser
import Service

/// All settings of `serve`, shared by the server and the command that shows them.
struct ServeSettings: ParsableArguments {
  @OptionGroup var database: DatabaseOptions
  @OptionGroup var standby: StandbyOptions
  // The numbers under a title are a group of their own, not nested in another: debug builds of ArgumentParser
  // check a group some four times for each group around it, and a start took seconds.
  @OptionGroup(title: "Listening") var listeningNumbers: NumberOptions<ListeningOptions>
  @OptionGroup(title: "Listening") var listening: ListeningOptions
  @OptionGroup(title: "Limits of messages") var messages: NumberOptions<MessageOptions>
  @OptionGroup(title: "Limits of connections") var connections: NumberOptions<ConnectionOptions>
  @OptionGroup(title: "Clients") var clientNumbers: NumberOptions<ClientOptions>
  @OptionGroup(title: "Clients") var clients: ClientOptions
  @OptionGroup(title: "Pages") var pages: PageOptions
  @OptionGroup(title: "Pages") var pageNumbers: NumberOptions<PageOptions>
  @OptionGroup(title: "Caches in front") var caches: CacheOptions
  @OptionGroup(title: "Caches in front") var cacheNumbers: NumberOptions<CacheOptions>
  @OptionGroup(title: "Media") var media: MediaOptions
  @OptionGroup(title: "Media") var mediaNumbers: NumberOptions<MediaOptions>
  @OptionGroup(title: "Media") var decoding: DecodingOptions
  @OptionGroup(title: "Writes") var writes: WriteOptions
  @OptionGroup(title: "Writes") var writeNumbers: NumberOptions<WriteOptions>
  @OptionGroup(title: "Webhooks") var hooks: WebhookOptions
  @OptionGroup(title: "Webhooks") var hookNumbers: NumberOptions<WebhookOptions>
  @OptionGroup(title: "Loading") var loading: NumberOptions<LoadingOptions>
  @OptionGroup(title: "Care of the database") var care: CareOptions
  @OptionGroup(title: "Care of the database") var careNumbers: NumberOptions<CareOptions>
  @OptionGroup(title: "Reports of clients") var reports: ReportOptions
  @OptionGroup(title: "Reports of clients") var reportNumbers: NumberOptions<ReportOptions>
  @OptionGroup(title: "Tuning") var tuning: TuneOptions
  @OptionGroup(title: "Tuning") var tuningNumbers: NumberOptions<TuneOptions>
  @OptionGroup(title: "Log and figures") var log: LogOptions
  @OptionGroup(title: "Log and figures") var logNumbers: NumberOptions<LogOptions>

  /// Every setting, in the order of the help.
  var list: [Setting] { Setting.list(of: self) }

  func validate() throws { try Setting.validate(self) }

  /// The service's configuration, without the log.
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
    configuration.mediaProbing.decoding = decoding.settings
    configuration.backups = care.backups
    configuration.tuning.mode = tuning.tune
    configuration.tuning.environment = tuning.environment(database: database.database)
    return configuration
  }
}
