import ArgumentParser
import Feed
import RowStore
import System

struct PruneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Delete old posts and old rankings.",
    discussion: """
      Deletes a post if it was published before --older-than days and is not among the first \
      --keep-posts of any of its feeds; a condition without its option is ignored. A post without \
      a time is never older. With --feed, posts only leave that feed; those that are then in no \
      feed are deleted. Servers and their writers can run meanwhile. Media files are not deleted.
      """)

  @OptionGroup var options: DatabaseOptions

  @Option("older-than", valueName: "days") var olderThan: Int?
  @Option("keep-posts") var keepPosts: Int?

  @Option(help: "Remove only posts of this feed, and only from this feed.")
  var feed: String?

  @Option(
    "kept-rankings", help: "Number of old rankings of each feed to keep; default: all.")
  var keptRankings: Int?

  @Flag(help: "Print what would be deleted, and change nothing.")
  var dryRun = false

  mutating func validate() throws {
    try Setting.validate(self)
    guard olderThan != nil || keepPosts != nil || keptRankings != nil else {
      throw ValidationError("one of --older-than, --keep-posts and --kept-rankings is required")
    }
  }

  private var rule: PruningRule {
    var rule = PruningRule()
    rule.publishedBefore = olderThan.map {
      let now = StoreOptions.systemTime().microseconds
      return Timestamp(microseconds: now - Int64($0) * 86_400_000_000)
    }
    rule.keptPosts = keepPosts
    rule.feed = feed
    rule.keptRankings = keptRankings
    return rule
  }

  func run() throws {
    // No client waits for the command, and servers on this machine have clients that do.
    CurrentThread.schedule(.background)
    let meter = ProgressMeter()
    let store = try options.openExisting(changesMuch: true)
    let summary: PruningSummary
    do {
      summary = try store.prune(rule, isDryRun: dryRun) {
        meter.show($0.progress(isDryRun: dryRun))
      }
    } catch FeedError.unknownFeed(let name) {
      printError("there is no feed \"\(name)\"")
      throw ExitCode.failure
    }
    meter.clear()
    // Prints what was deleted even if closing fails.
    let closing = Result { try store.close() }
    var parts = ["\(summary.posts) posts"]
    if let feed { parts.append("\(summary.departures) more from \(feed) only") }
    if keptRankings != nil {
      parts += ["\(summary.rankings) rankings", "\(summary.entries) rows of old rankings"]
    }
    print(
      parts.joined(separator: ", ") + (dryRun ? " would be deleted" : " deleted")
        + ", in \(meter.secondsText) s")
    if summary.withoutTime > 0 {
      print("\(summary.withoutTime) posts have no time and are kept")
    }
    try closing.get()
  }
}

extension PruningSummary {
  /// The progress in words.
  fileprivate func progress(isDryRun: Bool) -> String {
    let verb = isDryRun ? "would be deleted" : "deleted"
    let rankings = rankings + entries > 0 ? ", \(rankings) rankings with \(entries) rows" : ""
    return "\(seen) posts looked at, \(posts + departures) \(verb)\(rankings)"
  }
}
