import FeedServer
import Foundation
import HTTPServer
import MediaFiles
import MediaProbe
import Observability
import RowStore
import SQLiteStore
import Seeding
import Service
import System

/// The facts about an option whose value is a number: its row of the table `NumberSetting.all`.
///
/// Its option (`NumberOptions`), its variable, its default, its check, `config` and the service's configuration follow
/// from it; tests compare docs/settings.md and the manual with it.
struct NumberSetting: Sendable {
  /// The place of the number in the service's configuration.
  struct Place: Sendable {
    let value: @Sendable (FeedServiceConfiguration) -> Int
    let set: @Sendable (Int, inout FeedServiceConfiguration) -> Void
  }

  /// The option's name without its dashes.
  let name: String
  /// The allowed values.
  let range: ClosedRange<Int>
  /// The default; nil if there is none.
  let fallback: Int?
  /// The place in the configuration; `nil` if the owner of the option applies the value itself.
  let place: Place?
  /// The text for `--help`.
  let help: String

  /// The rows of a part of the service's configuration, with the part's own defaults.
  ///
  /// - Parameter part: the place of the part in the configuration.
  static func rows<Part>(
    _ numbers: [SettableNumber<Part>],
    at part: WritableKeyPath<FeedServiceConfiguration, Part> & Sendable
  ) -> [NumberSetting] {
    numbers.map { number in
      let inPart = number.place
      return NumberSetting(
        number.name, number.range, default: defaults[keyPath: part][keyPath: inPart], number.help,
        place: Place(
          value: { $0[keyPath: part][keyPath: inPart] },
          set: { $1[keyPath: part][keyPath: inPart] = $0 }))
    }
  }

  /// Creates a single row.
  init(
    _ name: String, _ range: ClosedRange<Int>, default fallback: Int?, _ help: String,
    place: Place? = nil
  ) {
    self.name = name
    self.range = range
    self.fallback = fallback
    self.place = place
    self.help = help
  }

  private static let defaults = FeedServiceConfiguration(databasePath: "")
  private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  /// The row of this name, if it has one.
  static func named(_ name: String) -> NumberSetting? { byName[name] }

  /// The problem with a number; `nil` if it is within the range.
  func problem(with number: Int) -> String? {
    if number < range.lowerBound { return "\(number) is less than \(range.lowerBound)" }
    if number > range.upperBound { return "\(number) is more than \(range.upperBound)" }
    return nil
  }
}

private let backups = BackupSettings(folder: "")
private let probing = ProbeSettings()

extension NumberSetting {
  /// The rows of all options with number values.
  static let all: [NumberSetting] =
    others + rows(DatabaseFile.Options.waitNumbers, at: \.opening.file)
    + [
      ListeningOptions.numbers,
      MessageOptions.numbers,
      ConnectionOptions.numbers,
      ClientOptions.numbers,
      PageOptions.numbers,
      CacheOptions.numbers,
      MediaOptions.numbers,
      WriteOptions.numbers,
      LoadingOptions.numbers,
      WebhookOptions.numbers,
      CareOptions.numbers,
      ReportOptions.numbers,
      TuneOptions.numbers,
      LogOptions.numbers,
    ].joined()

  /// The rows of other commands, and of options with a property of their own.
  private static let others: [NumberSetting] = [
    NumberSetting(
      "backup-interval-seconds", 1...Most.tenYearsSeconds, default: backups.intervalSeconds,
      "Interval between two backups."),
    NumberSetting(
      "backups-kept", 1...1_000_000, default: backups.kept,
      "Number of backups that are kept; the oldest are deleted."),
    NumberSetting(
      "backup-command-seconds", 1...Most.daySeconds, default: backups.commandSeconds,
      "Time that --backup-command may take; then it is ended."),
    NumberSetting(
      "again-days", 0...3_650, default: 30,
      "Days for which a policy that lost is not tried again."),
    NumberSetting(
      "share", 1...50, default: 50, "Maximum share of sessions that get the policy, in percent."),
    NumberSetting(
      "margin-percent", 0...100, default: 5,
      "Difference that does not matter, in percent of loaders."),
    NumberSetting(
      "days", 1...3_650, default: 14, "Days after which the experiment ends undecided."),
    NumberSetting(
      "hours", 1...87_600, default: 24, "Number of hours to show, up to now."),
    NumberSetting(
      "log-buffer-bytes", 4_096...Most.gibibyte, default: LogSink.defaultMaximumBytes,
      "Memory for log lines that wait to be written; more are dropped and counted."),
    NumberSetting(
      "generate", 1...1_000_000_000, default: nil,
      "Number of posts to generate instead of reading files."),
    // Times before the year 0 cannot be represented.
    NumberSetting(
      "older-than", 0...700_000, default: nil,
      "Delete posts and media files that are older than this many days, by a post's time or a file's last change."
    ),
    NumberSetting(
      "keep-posts", 0...1_000_000_000, default: nil,
      "Number of posts to keep at the top of each feed, whatever their age."),
    NumberSetting(
      "timeout-milliseconds", 1...Most.dayMilliseconds, default: 2_000,
      "Time for connecting and the answer together."),
    // Analyzing media files.
    NumberSetting(
      "probe-timeout-milliseconds", 1...Most.dayMilliseconds, default: probing.timeMilliseconds,
      "Time to decode a file's first frame, and to fetch what is read of a URL."),
    NumberSetting(
      "probe-file-bytes", 1...Most.tebibyte, default: probing.fileBytes,
      "Maximum length of a file that is probed."),
    NumberSetting(
      "probe-read-timeout-milliseconds", 1...Most.dayMilliseconds,
      default: probing.readMilliseconds, "Time to read all of a file."),
    NumberSetting(
      "probe-memory-bytes", (1 << 20)...Most.tebibyte, default: probing.memoryBytes,
      "Address space of each program that decodes or fetches."),
    NumberSetting(
      "probe-url-bytes", 65_536...Most.tebibyte, default: probing.remoteBytes,
      "Maximum number of bytes that are read of one URL."),
    NumberSetting(
      "jobs", 1...256, default: ProcessInfo.processInfo.activeProcessorCount,
      "Number of files that are probed, or simulations that run, at once."),
    // The lab.
    NumberSetting(
      "items", 1...100_000, default: 1_000, "Number of items that a simulated viewer looks at."),
    NumberSetting(
      "repeats", 1...10_000, default: 10, "Number of runs of each strategy on each network."),
    NumberSetting(
      "precision", 1...1_000, default: nil,
      "Repeat until the confidence interval of loaders per 1000 is this narrow, at most 1000 times."
    ),
    NumberSetting(
      "budget-kilobytes", 0...1_000_000_000, default: nil,
      "Maximum kilobytes an item of the best setting; without it, those of the current setting."),
    NumberSetting(
      "megabyte-loaders", 0...1_000_000, default: nil,
      "Rate settings by a sum: a megabyte an item counts as this many loaders per 1000."),
    NumberSetting("seed", 0...1_000_000_000, default: 1, "Seed of all random numbers."),
    NumberSetting(
      "margin", 0...1_000, default: 2,
      "Difference in loaders per 1000 items, or in milliseconds of delay an item, that does not count."
    ),
  ]
}

extension ListeningOptions: NumberGroup {
  static let numbers = NumberSetting.rows(
    ServerConfiguration.listeningNumbers, at: \.application.server)
}

/// Limits of messages.
enum MessageOptions: NumberGroup {
  static let numbers = NumberSetting.rows(
    ServerConfiguration.messageNumbers, at: \.application.server)
}

/// Limits of connections, in number and time.
enum ConnectionOptions: NumberGroup {
  static let numbers = NumberSetting.rows(
    ServerConfiguration.connectionNumbers, at: \.application.server)
}

extension ClientOptions: NumberGroup {
  static let numbers = NumberSetting.rows(ApplicationConfiguration.clientNumbers, at: \.application)
}

extension PageOptions: NumberGroup {
  static let numbers =
    NumberSetting.rows(ApplicationConfiguration.pageNumbers, at: \.application)
    + NumberSetting.rows(StoreOptions.pageNumbers, at: \.opening.options)
    + NumberSetting.rows(FeedServiceConfiguration.pageNumbers, at: \.self)
}

extension CacheOptions: NumberGroup {
  static let numbers = NumberSetting.rows(ApplicationConfiguration.cacheNumbers, at: \.application)
}

extension MediaOptions: NumberGroup {
  static let numbers =
    NumberSetting.rows(ApplicationConfiguration.mediaNumbers, at: \.application)
    + NumberSetting.rows(MediaStoreSettings.numbers, at: \.application.mediaStore)
    + NumberSetting.rows(MediaProbing.numbers, at: \.mediaProbing)
    + NumberSetting.rows(RenditionMaker.Limits.numbers, at: \.application.renditions)
}

extension WriteOptions: NumberGroup {
  static let numbers =
    NumberSetting.rows(ServerConfiguration.writeNumbers, at: \.application.server)
    + NumberSetting.rows(ApplicationConfiguration.writeNumbers, at: \.application)
    + NumberSetting.rows(StoreOptions.writeNumbers, at: \.opening.options)
}

/// Limits of loading at once, and of keeping what was loaded.
enum LoadingOptions: NumberGroup {
  static let numbers =
    NumberSetting.rows(Seeder.numbers, at: \.application.seeder)
    + NumberSetting.rows(StoreOptions.loadingNumbers, at: \.opening.options)
}

extension WebhookOptions: NumberGroup {
  static let numbers = NumberSetting.rows(WebhookSettings.numbers, at: \.application.webhooks)
}

extension CareOptions: NumberGroup {
  static let numbers =
    NumberSetting.rows(DatabaseFile.Options.careNumbers, at: \.opening.file)
    + NumberSetting.rows(FeedServiceConfiguration.careNumbers, at: \.self)
}

extension ReportOptions: NumberGroup {
  static let numbers =
    NumberSetting.rows(ReportSettings.numbers, at: \.application.reports)
    + NumberSetting.rows(ApplicationConfiguration.reportNumbers, at: \.application)
}

extension TuneOptions: NumberGroup {
  static let numbers = NumberSetting.rows(TuningSettings.numbers, at: \.tuning)
}

extension LogOptions: NumberGroup {
  static let numbers = NumberSetting.rows(ApplicationConfiguration.logNumbers, at: \.application)
}
