import ArgumentParser
import Catalog
import Experiments
import Feed
import Lab
import Prefetch
import Reports
import RowStore
import System

/// Looks for a better policy in the lab, on this feed, its networks and its people, and says which experiment would
/// show it, or begins that.
struct TuneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tune",
    abstract:
      "Look for a policy with fewer loaders for a feed, in the lab, and suggest an experiment.",
    discussion: """
      The lab runs on the feed as it is in the database, on the networks that clients reported, with people who watch \
      as was learned. The policy in force is held against expected-wait at several prices, of which none may load more \
      than 1.2 times the bytes; the winner is judged with other viewers and at other places of the feed. A network with 10 000 \
      sessions a day or more is tuned for itself; if there is none, all are tuned together. With --begin the experiment \
      begins that shows whether clients meet what the lab predicts: only that changes the policy.
      """)

  @Option(help: ArgumentHelp("Prices to try, separated by commas.", valueName: "list"))
  var price = "25,50,100,250,500,1000,2500,5000,10000,25000"

  @Flag(help: "Begin the experiment that is suggested.")
  var begin = false

  @Option("share") var share: Int
  @Option("margin-percent") var marginPercent: Int
  @Option("days") var days: Int
  @OptionGroup var options: LabOptions

  /// From so many sessions a day on a network is tuned for itself.
  private static let sessionsOfNetwork = 10_000
  /// So many times the bytes of the policy in force may be loaded: an experiment's guard allows 1.25 times.
  private static let bytesFactor = 1.2
  /// Over so many days sessions are counted.
  private static let countedDays = 7

  mutating func validate() throws {
    try options.check(self)
    guard options.feed.feed != nil else { throw ValidationError("--feed is missing") }
    guard options.trace.isEmpty, options.watch == nil, options.precision == nil,
      options.format == .table
    else {
      throw ValidationError(
        "--trace, --watch, --precision and --format: tune goes by what was reported, and says one line"
      )
    }
    _ = try prices()
  }

  private func prices() throws -> [Int] {
    try price.split(separator: ",", omittingEmptySubsequences: false).map { part in
      guard let number = Int(part), (0...1_000_000).contains(number) else {
        throw ValidationError("--price: \"\(part)\" is no whole number from 0 to 1000000")
      }
      return number
    }
  }

  func run() throws {
    let feed = options.feed.feed ?? ""
    let store = try options.feed.store()
    defer { try? store.close() }
    guard try store.feed(named: feed) != nil else { throw FeedError.unknownFeed(feed) }
    try store.refresh()
    let book = try store.snapshot().policyBook
    let running = try store.experiments(.running).filter { $0.kind == .trial }
    for part in try parts(of: feed, store, book) {
      if let other = running.first(where: { $0.overlaps(feed: feed, network: part.network) }) {
        printText("\(part.words): experiment \(other.id) runs\n")
        continue
      }
      try tune(feed, part, book, store)
    }
  }

  /// Networks that are tuned together.
  private struct Part {
    let profiles: [NetworkProfile]
    /// That of the experiment; nil for all.
    let network: String?
    let sessionsPerDay: Int

    var words: String { network ?? "all networks" }
  }

  private func parts(
    of feed: String, _ store: any DatabaseStore, _ book: PolicyBook
  ) throws -> [Part] {
    var sessions: [ByteText: Int] = [:]
    let since = WallClock.secondsSince1970 / 3_600 - Self.countedDays * 24
    try store.readReportCells(since: since) { key, cell in
      if key.feed.isSame(as: feed) { sessions[ByteText(key.network), default: 0] += cell.sessions }
    }
    let known = book.networks.filter { $0.downlinkKbps > 0 }.map {
      (profile: $0, perDay: sessions[ByteText($0.name), default: 0] / Self.countedDays)
    }
    func alone(_ entry: (profile: NetworkProfile, perDay: Int)) -> Part {
      Part(
        profiles: [entry.profile], network: entry.profile.name, sessionsPerDay: entry.perDay)
    }
    guard options.network.isEmpty else {
      return try options.network.map { name in
        guard let entry = known.first(where: { $0.profile.name.isSame(as: name) }) else {
          throw ExperimentError.unknownNetwork(name, known: known.map { $0.profile.name })
        }
        return alone(entry)
      }
    }
    let large = known.filter { $0.perDay >= Self.sessionsOfNetwork }
    if !large.isEmpty { return large.map(alone) }
    let reported = known.filter { sessions[ByteText($0.profile.name), default: 0] > 0 }
      .sorted { $0.perDay > $1.perDay }
    guard !reported.isEmpty else {
      throw ValidationError(
        "in \(Self.countedDays) days no session of the feed was reported: --network names a network"
      )
    }
    return [
      Part(
        profiles: reported.map { $0.profile }, network: nil,
        sessionsPerDay: reported.reduce(0) { $0 + $1.perDay })
    ]
  }

  private func tune(
    _ feed: String, _ part: Part, _ book: PolicyBook, _ store: any DatabaseStore
  ) throws {
    // Of several networks that with the most sessions: what is tried is tried beside it.
    let current = book.policy(feed: feed, network: part.profiles[0])
    var lab = options
    lab.network = part.profiles.map(\.name)
    let isHinted = !lab.withoutHints
    let contestants =
      try [Contestant(name: current.name, policy: current, isHinted: isHinted)]
      + prices().map {
        try LabStrategies.contestant("expected-wait:price=\($0)", isHinted: isHinted)
      }
    let (made, words) = try lab.experiment(contestants)
    var experiment = made
    if try hasLearned(feed, store) { experiment.viewer = .retained }
    let meter = ProgressMeter()
    var alone = experiment
    alone.contestants = [contestants[0]]
    let kilobytes = alone.results(lab.perform).mean(0, .kilobytes)
    let tuning = experiment.tune(
      Objective(.loaders, .kilobytes(kilobytes * Self.bytesFactor)), searches: true, lab.perform,
      progress: LabOptions.show(meter))
    meter.clear()
    let sentence = tuning.sentence(margin: Double(lab.margin))
    printText("\(part.words), \(part.sessionsPerDay) sessions a day: \(sentence)\n")
    guard tuning.isOther else { return }
    let found = experiment.contestants[tuning.contestant]
    guard begin else {
      let network = part.network.map { " --network \($0)" } ?? ""
      printText(
        "suggested: lookahead experiment start --feed \(feed)\(network) --against \(found.name)\n")
      return
    }
    var limits = ExperimentLimits()
    (limits.sharePermille, limits.marginPercent, limits.days) = (
      10 * share, marginPercent, days
    )
    let id = try store.begin(
      NewTrial(
        feed: feed, network: part.network, setting: try Policy(text: found.name), limits: limits,
        reason: "lookahead tune on \(words): \(sentence)"), at: .now)
    printText("experiment \(id) runs: \(found.name)\n")
  }

  /// Whether it is known how long people watch some of the feed's items.
  private func hasLearned(_ feed: String, _ store: any DatabaseStore) throws -> Bool {
    let (_, posts) = try store.pagePosts(PageQuery(feed: feed, limit: 100))
    return posts.posts.contains { $0.survival != nil }
  }
}
