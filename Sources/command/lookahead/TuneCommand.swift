import ArgumentParser
import Catalog
import Experiments
import Feed
import FeedServer
import Lab
import Prefetch
import Reports
import RowStore
import System

/// Looks for a better policy in the lab, for this feed, its networks and its viewers, and suggests or begins
/// the experiment that would show it.
struct TuneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tune",
    abstract:
      "Look for a policy with fewer loaders for a feed, in the lab, and suggest an experiment.",
    discussion: """
      The lab simulates the feed of the database on the networks that clients reported, with \
      viewers who watch as learned. It compares the policy in force with expected-wait at several \
      prices, which may load at most 1.2 times the bytes, and judges the winner with other viewers \
      and at other places of the feed. A network with 10 000 sessions a day or more is tuned \
      separately; if there is none, all networks are tuned together. Policies that were tried and \
      lost recently are left out. --begin starts an experiment that shows whether clients see what \
      the lab predicts: only that changes the policy. --suggest stores a suggestion, to be begun \
      by hand. serve --tune does either at night.
      """)

  @Option(
    help: ArgumentHelp(
      "Prices to try, separated by commas; default: ten prices from 25 to 25000.", valueName: "list"
    ))
  var price: String?

  @Flag(help: "Begin the suggested experiment.")
  var begin = false

  @Flag(help: "Store the result as a suggestion, to be begun later.")
  var suggest = false

  @Option("again-days") var againDays: Int
  @Option("share") var share: Int
  @Option("margin-percent") var marginPercent: Int
  @Option("days") var days: Int
  @OptionGroup var options: LabOptions

  /// The maximum bytes, as a multiple of those of the policy in force: an experiment's guard allows 1.25
  /// times.
  private static let bytesFactor = 1.2
  /// The number of links that represent the measured ones.
  private static let linkCount = 5
  /// The minimum number of runs of each of them.
  private static let leastRepeats = 4
  private static let usualPrices = "25,50,100,250,500,1000,2500,5000,10000,25000"

  mutating func validate() throws {
    price = price ?? Environment.text("price", default: Self.usualPrices)
    try options.check(self)
    guard options.feed.feed != nil else { throw ValidationError("--feed is missing") }
    guard options.trace.isEmpty, options.watch == nil, options.precision == nil,
      options.format != .csv
    else {
      throw ValidationError(
        "--trace, --watch, --precision and --format csv are not supported: tune uses what "
          + "clients reported"
      )
    }
    guard !(begin && suggest) else {
      throw ValidationError("--begin and --suggest exclude each other")
    }
    _ = try prices()
  }

  private func prices() throws -> [Int] {
    try (price ?? "").split(separator: ",", omittingEmptySubsequences: false).map { part in
      guard let number = Int(part), (0...1_000_000).contains(number) else {
        throw ValidationError("--price: \"\(part)\" is not a whole number from 0 to 1000000")
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
    let hour = WallClock.secondsSince1970 / 3_600
    let plan = try TuningPlan(store, feed: feed, atHour: hour)
    let book = try store.snapshot().policyBook
    var answers: [TuningAnswer] = []
    for part in try parts(of: feed, plan, book) {
      let other = plan.history.first {
        $0.isRunning && $0.kind == .trial && $0.overlaps(feed: feed, network: part.network)
      }
      if let other {
        tell("\(part.words): experiment \(other.id) runs")
        continue
      }
      let lost = part.lost(plan.history, sinceHour: hour - againDays * 24)
      // For several networks, the policy on the one with the most sessions: the experiment compares with it.
      let inForce = book.policy(feed: feed, network: part.profiles[0])
      let links = plan.links(of: part)
      let answer = try tune(part, links, book.networks, inForce, leavingOut: lost, store)
      answers.append(answer)
      try write(answer, inForce, plan.newestStep(of: part), store)
    }
    if options.format == .json {
      try printBytes(TuningAnswer.json(answers) + [UInt8(ascii: "\n")])
    }
  }

  /// Prints a line for users; programs read the answers.
  private func tell(_ line: String) {
    if options.format == .table { printText(line + "\n") }
  }

  private func parts(
    of feed: String, _ plan: TuningPlan, _ book: PolicyBook
  ) throws -> [TuningPart] {
    guard options.network.isEmpty else {
      return try options.network.map { name in
        guard let profile = book.networks.first(where: { $0.name.isSame(as: name) }) else {
          throw ExperimentError.unknownNetwork(name, known: book.networks.map(\.name))
        }
        let known = plan.parts.first { $0.network.map { $0.isSame(as: name) } ?? false }
        return known
          ?? TuningPart(feed: feed, network: name, profiles: [profile], sessionsPerDay: 0)
      }
    }
    guard !plan.parts.isEmpty else {
      throw ValidationError(
        "no session of the feed was reported in \(TuningPart.countedDays) days: name a network "
          + "with --network"
      )
    }
    return plan.parts
  }

  private func tune(
    _ part: TuningPart, _ links: ReportedDays?, _ profiles: [NetworkProfile], _ inForce: Policy,
    leavingOut lost: Set<Policy.Strategy>, _ store: any DatabaseStore
  ) throws -> TuningAnswer {
    var lab = options
    lab.network = part.profiles.map(\.name)
    let isHinted = !lab.withoutHints
    let tried = try prices().map {
      try LabStrategies.contestant("expected-wait:price=\($0)", isHinted: isHinted)
    }.filter { !lost.contains($0.policy.strategy) }
    let contestants =
      [Contestant(name: inForce.name, policy: inForce, isHinted: isHinted)] + tried
    let (made, feedWords) = try lab.experiment(contestants)
    var experiment = made
    if try hasLearned(part.feed, store) { experiment.viewer = .retained }
    if let links {
      func networks(_ links: ReportedLinks) -> [LabNetwork] {
        links.quantiles(Self.linkCount).map { link in
          let query = NetworkQuery.measured(
            downlinkKbps: link.downlinkKbps, roundTripMilliseconds: link.roundTripMilliseconds)
          return LabNetwork(
            downlinkKbps: link.downlinkKbps, roundTripMilliseconds: link.roundTripMilliseconds,
            on: profiles.profile(for: query) ?? part.profiles[0])
        }
      }
      (experiment.networks, experiment.judgingNetworks) = (
        networks(links.tuning), networks(links.judging)
      )
      // As many runs as on the profiles.
      experiment.repeats = max(
        Self.leastRepeats, lab.repeats * part.profiles.count / Self.linkCount)
    }
    let words = feedWords + (links.map { ", \($0.words)" } ?? "") + ", seed \(lab.seed)"
    let meter = ProgressMeter()
    let tuning = experiment.tune(
      Objective(.loaders, .current(times: Self.bytesFactor)), searches: true,
      judgesChoices: false, lab.perform, progress: LabOptions.show(meter))
    meter.clear()
    let place = tuning.isOther ? 1 : 0
    let expected = LabExpectation(
      loadersPerThousand: (
        tuning.judged.mean(0, .loaders), tuning.judged.mean(place, .loaders)
      ),
      kilobytes: (tuning.judged.mean(0, .kilobytes), tuning.judged.mean(place, .kilobytes)))
    let isBetter = tuning.isOther && expected.isBetter(byPercent: marginPercent)
    var limits = ExperimentLimits()
    (limits.sharePermille, limits.marginPercent, limits.days) = (10 * share, marginPercent, days)
    let left = lost.isEmpty ? "" : "; policies that lost within \(againDays) days were left out"
    let sentence = tuning.sentence(margin: Double(lab.margin))
    tell("\(part.words), \(part.sessionsPerDay) sessions a day: \(sentence)\(left)")
    return TuningAnswer(
      feed: part.feed, network: part.network,
      against: isBetter ? experiment.contestants[tuning.contestant].name : nil, limits: limits,
      reason: "lookahead tune on \(words): \(sentence)\(left)", expected: expected)
  }

  /// Begins the experiment, or stores the result in the history, as the flags say.
  private func write(
    _ answer: TuningAnswer, _ inForce: Policy, _ newest: NewestStep, _ store: any DatabaseStore
  ) throws {
    guard let against = answer.against else {
      tell("less than \(marginPercent) % fewer loaders: nothing to try")
      if begin || suggest {
        _ = try store.add(answer.trial(inForce: inForce), .kept, after: newest, at: .now)
      }
      return
    }
    guard begin || suggest else {
      let network = answer.network.map { " --network \($0)" } ?? ""
      return tell(
        "suggested: lookahead experiment start --feed \(answer.feed)\(network) --against \(against)"
      )
    }
    let id = try store.add(
      answer.trial(inForce: inForce), begin ? .started : .suggested, after: newest, at: .now)
    tell(
      begin
        ? "experiment \(id) runs: \(against)"
        : "experiment \(id) is suggested: lookahead experiment begin \(id)")
  }

  /// Whether some of the feed's items have learned watch times.
  private func hasLearned(_ feed: String, _ store: any DatabaseStore) throws -> Bool {
    let (_, posts) = try store.pagePosts(PageQuery(feed: feed, limit: 100))
    return posts.posts.contains { $0.survival != nil }
  }
}
