import ArgumentParser
import Feed
import Foundation
import Lab
import Prefetch
import PrefetchClient
import System
import Viewing

/// Scrolls a server's feed with the client library over a shaped link, and in the simulation.
struct LabValidateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate",
    abstract: "Compare the simulation with the client library on a real server over a shaped link.",
    discussion: """
      Each strategy views the same items twice: with lookahead browse, over real sockets and a \
      link that is shaped to the network; and simulated. Browsing takes real time: 1000 items at \
      one a second take 1000 seconds divided by --speed, for --together strategies at once, each \
      over its own link. The exit status is 1 if the rank correlation is below 0.95, if a pair is \
      in the wrong order beyond --margin, or if the mean error of loaders or of the watched \
      bitrate is above 10 %.
      """)

  @Argument(help: "URL of the server, such as http://127.0.0.1:8080.")
  var url: String

  @Option(help: "Name of the feed.")
  var feed = "featured"

  @Option(help: "Network profile.")
  var network = "3g"

  @Option(help: "Time to view each item, such as 1s or 500ms.")
  var pace = "1s"

  @Option(help: "Factor that speeds up the link and the viewer, 1 to 100.")
  var speed = 1

  @Option(help: "Number of strategies to run at once.")
  var together = 10

  @Flag(help: "Print both results of each strategy as JSON, for lab report.")
  var json = false

  @OptionGroup var strategies: LabStrategies
  @Option("items") var items: Int
  @Option("repeats") var repeats: Int
  @Option("margin") var margin: Int
  @Option("seed") var seed: Int

  mutating func validate() throws {
    try Setting.validate(self)
    guard (1...100).contains(together) else {
      throw ValidationError("--together: \(together) is not in 1…100")
    }
    guard try !strategies.contestants(isHinted: true).isEmpty else {
      throw ValidationError("--strategy: \(RunBound.name) is a bound and cannot browse")
    }
    for contestant in try strategies.contestants(isHinted: true) { _ = try plan(contestant.name) }
  }

  /// The plan of `browse` for a strategy.
  private func plan(_ strategy: String) throws -> BrowsePlan {
    do {
      return try BrowsePlan(
        BrowseCommand.parse([
          url, "--feed", feed, "--items", "\(items)", "--pace", pace, "--speed", "\(speed)",
          "--network", network, "--strategy", strategy,
        ]))
    } catch {
      throw ValidationError(BrowseCommand.message(for: error))
    }
  }

  func run() throws {
    let contestants = try strategies.contestants(isHinted: true)
    let plans = try contestants.map { try plan($0.name) }
    let meter = ProgressMeter()
    let world = try wait { try await World(plans[0], items: items) }
    meter.report("\(feed): \(world.feed.words); \(world.pageBytes) bytes per page")
    let measured = try wait { [together] in
      try await Self.browse(plans, together: together) { done in
        meter.show("\(done) of \(plans.count) strategies")
      }
    }
    meter.clear()
    var experiment = Experiment(
      contestants: contestants, networks: [world.network],
      feed: .recorded(world.feed.feed, turns: false), viewer: .steady, items: items,
      repeats: repeats,
      seed: UInt64(seed))
    experiment.viewer.dwell = .fixed(milliseconds: plans[0].paceMilliseconds)
    for index in experiment.contestants.indices {
      experiment.contestants[index].policy.itemsPerMinute =
        max(1, min(6_000, 60_000 / plans[0].paceMilliseconds))
      experiment.contestants[index].settings.pageBytes = world.pageBytes
    }
    let simulated = experiment.results()
    let validation = Validation(
      zip(contestants.indices, measured).map { index, figures in
        Validation.Pair(
          name: contestants[index].name, measuredLoaders: figures.loaders,
          simulatedLoaders: simulated.mean(index, .loaders),
          measuredKilobytes: figures.kilobytes,
          simulatedKilobytes: simulated.mean(index, .kilobytes),
          measuredDelay: figures.delay, simulatedDelay: simulated.mean(index, .delayMilliseconds),
          measuredBitrate: figures.bitrate,
          simulatedBitrate: figures.bitrate == nil
            ? nil : simulated.mean(index, .bitrateKilobitsPerSecond))
      }, margin: Double(margin))
    if json {
      print(String(decoding: validation.json, as: UTF8.self))
    } else {
      printText(validation.table)
    }
    if !validation.holds { throw ExitCode.failure }
  }
}

extension LabValidateCommand {
  /// The measured results of a strategy.
  struct Measured: Sendable {
    let loaders: Double
    let kilobytes: Double
    let delay: Double
    /// The mean bitrate of watched clips; `nil` if no clip played.
    let bitrate: Double?
  }

  /// The input of both runs: the feed as the server describes it, and the network.
  struct World: Sendable {
    let feed: RecordedFeed
    let network: LabNetwork
    let pageBytes: Int

    init(_ plan: BrowsePlan, items: Int) async throws {
      let transport = SocketTransport()
      let profile = try await NetworkProfile.named(
        plan.network ?? "", of: plan.server, over: transport)
      network = LabNetwork(shaped: profile)
      var settings = FeedSessionSettings()
      settings.limit = plan.limit
      settings.heldPages = RecordedFeed.itemLimit
      let session = FeedSession(
        server: plan.server, feed: plan.feed, transport: transport, settings: settings)
      try await session.refresh()
      while await session.items.count < items, try await session.older() != nil {}
      feed = try RecordedFeed(await session.items.map { item in PrefetchItem(item) { $0 } })
      let traffic = session.traffic
      pageBytes = traffic.bytes / max(1, traffic.requests)
    }
  }

  /// Views the feed with every plan, `together` plans at once.
  private static func browse(
    _ plans: [BrowsePlan], together: Int, progress: @escaping @Sendable (Int) -> Void
  ) async throws -> [Measured] {
    try await withThrowingTaskGroup(of: (Int, Measured).self) { group in
      var (next, done) = (0, 0)
      var measured = [Measured?](repeating: nil, count: plans.count)
      func begin() {
        guard next < plans.count else { return }
        let (index, plan) = (next, plans[next])
        next += 1
        group.addTask { (index, Measured(try await plan.run())) }
      }
      for _ in 0..<min(together, plans.count) { begin() }
      while let (index, result) = try await group.next() {
        measured[index] = result
        done += 1
        progress(done)
        begin()
      }
      return measured.compactMap(\.self)
    }
  }

  /// Blocks this thread until the asynchronous work ends.
  private func wait<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let result = Monitor<Result<Value, any Error>?>(nil)
    Task {
      let outcome: Result<Value, any Error>
      do {
        outcome = .success(try await body())
      } catch {
        outcome = .failure(error)
      }
      result.withLock { $0 = outcome }
      result.notify()
    }
    return try result.wait { $0 }.get()
  }
}

extension LabValidateCommand.Measured {
  init(_ report: BrowseReport) {
    let figures = report.outcome.figures
    let items = Double(max(1, figures.items))
    // An item counts as not loaded if its page was not.
    loaders = Double(report.outcome.loaders) * 1_000 / items
    // Includes the bytes of cancelled requests.
    kilobytes = Double(report.linkBytes ?? report.bytes) / 1_000 / items
    delay = Double(report.outcome.delayMilliseconds) / items
    bitrate = report.outcome.bitrate
  }
}
