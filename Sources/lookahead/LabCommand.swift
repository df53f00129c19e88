import ArgumentParser
import Foundation
import Lab
import Prefetch

struct LabCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lab",
    abstract: "Measure strategies: loaders per 1000 items, waits and bytes, on simulated networks.",
    subcommands: [LabRunCommand.self, LabSweepCommand.self, LabCompareCommand.self])
}

/// Runs each strategy so many times on each network.
struct LabRunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run strategies on networks, and print what they measured.",
    discussion: """
      Each strategy sees the same viewers, networks and feeds. Of every figure the table has the mean; \
      the ± beside the loaders is the 95 % interval that holds whenever one looks. The last column holds \
      each strategy against the first.
      """)

  @OptionGroup var strategies: LabStrategies
  @OptionGroup var options: LabOptions

  @Flag(help: "Tell the first strategy's first run on the first network, event by event, instead.")
  var explain = false

  mutating func validate() throws {
    try options.check(self)
    _ = try strategies.contestants(isHinted: !options.withoutHints)
  }

  func run() throws {
    let (experiment, words) = try options.experiment(
      try strategies.contestants(isHinted: !options.withoutHints))
    options.tell(words)
    if explain {
      for line in experiment.explain(contestant: 0, network: 0, repeat: 0) { print(line) }
    } else {
      options.write(options.results(of: experiment))
    }
  }
}

/// Runs a grid of settings.
struct LabSweepCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sweep",
    abstract: "Run the weighted strategy with each of a grid of settings.",
    discussion: """
      The grid is every maximum cost with every cost of a video and of an image: the article's experiment. \
      The current setting, maximum cost 5, video 2, image 1, comes first, and the others are held against it. \
      The best one is judged where it was not tuned: of recorded networks every second one is kept back for \
      that, a profile is judged with other viewers and feeds. What lab apply takes is the result as JSON.
      """)

  @Option(help: ArgumentHelp("Maximum costs, separated by commas.", valueName: "list"))
  var maxCost = "1,3,5,7,10"

  @Option(help: ArgumentHelp("Costs of a video.", valueName: "list"))
  var videoCost = "1,2,3,4,5"

  @Option(help: ArgumentHelp("Costs of an image.", valueName: "list"))
  var imageCost = "1,2,3,4,5"

  @Option(
    help: ArgumentHelp(
      "Prices of ours: expected-wait with each of them is tried, too.", valueName: "list"))
  var price: String?

  @Flag(help: "Find the best setting with fewer runs than the whole grid.")
  var search = false

  @Option("budget-kilobytes") var budgetKilobytes: Int?
  @Option("megabyte-loaders") var megabyteLoaders: Int?
  @OptionGroup var options: LabOptions

  mutating func validate() throws {
    try options.check(self)
    guard budgetKilobytes == nil || megabyteLoaders == nil else {
      throw ValidationError("--budget-kilobytes and --megabyte-loaders: it is one or the other")
    }
    guard options.precision == nil else {
      throw ValidationError("--precision: a sweep has as many repeats as --repeats says")
    }
    _ = try grid()
  }

  func run() throws {
    let (experiment, words) = try options.experiment(try grid())
    options.tell(words)
    let meter = ProgressMeter()
    let tuning = experiment.tune(
      objective, searches: search, options.perform, progress: LabOptions.show(meter))
    meter.clear()
    options.write(
      tuning,
      TuningEvidence(
        tuning, of: experiment, feed: words, viewer: options.viewerWords,
        margin: Double(options.margin)))
  }

  private var objective: Objective {
    if let budgetKilobytes { return .within(kilobytes: Double(budgetKilobytes)) }
    if let megabyteLoaders { return .weighted(loadersPerMegabyte: Double(megabyteLoaders)) }
    return .withinCurrentBytes
  }

  private func grid() throws -> [Contestant] {
    let maxCosts = try Self.numbers(maxCost, 0...1_000_000, "max-cost")
    let videoCosts = try Self.numbers(videoCost, 0...1_000, "video-cost")
    let imageCosts = try Self.numbers(imageCost, 0...1_000, "image-cost")
    guard maxCosts.count * videoCosts.count * imageCosts.count <= 10_000 else {
      throw ValidationError("the grid has more than 10000 settings")
    }
    let current = contestant(5, 2, 1)
    let grid = maxCosts.flatMap { most in
      videoCosts.flatMap { video in imageCosts.map { contestant(most, video, $0) } }
    }
    let prices = try price.map { try Self.numbers($0, 0...1_000_000, "price") } ?? []
    let ours = try prices.map {
      try LabStrategies.contestant("expected-wait:price=\($0)", isHinted: !options.withoutHints)
    }
    return [current] + grid.filter { $0.name != current.name } + ours
  }

  private func contestant(_ maxCost: Int, _ videoCost: Int, _ imageCost: Int) -> Contestant {
    // As many items as could ever be carried are looked at.
    let policy = Policy(
      name: "weighted", strategy: .weighted(leading: 20, maxCost: maxCost),
      imageWeight: imageCost, videoWeight: videoCost)
    return Contestant(
      name: "max=\(maxCost) video=\(videoCost) image=\(imageCost)", policy: policy,
      isHinted: !options.withoutHints)
  }

  private static func numbers(
    _ text: String, _ range: ClosedRange<Int>, _ name: String
  ) throws -> [Int] {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count <= 1_000 else { throw ValidationError("--\(name): more than 1000 numbers") }
    return try parts.map { part in
      guard let number = Int(part), range.contains(number) else {
        throw ValidationError(
          "--\(name): \"\(part)\" is no whole number from \(range.lowerBound) to \(range.upperBound)"
        )
      }
      return number
    }
  }
}

/// Holds one strategy against another, with as many runs as it takes.
struct LabCompareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract:
      "Hold the second of two strategies against the first, until it is clear which is better.",
    discussion: """
      It looks after every repeat and stops as soon as the second is better or worse, or equivalent within \
      --margin, at the latest after --repeats: looking early costs nothing, since of all looks together \
      at most 5 % of comparisons are ever wrong. On several networks it looks after every network.
      """)

  @OptionGroup var strategies: LabStrategies
  @OptionGroup var options: LabOptions

  mutating func validate() throws {
    try options.check(self)
    guard options.precision == nil else {
      throw ValidationError("--precision: a comparison has as many repeats as it takes")
    }
    guard strategies.strategy.count == 2 else {
      throw ValidationError("--strategy is to be given twice: two strategies are compared")
    }
    _ = try strategies.contestants(isHinted: !options.withoutHints)
  }

  func run() throws {
    let (experiment, words) = try options.experiment(
      try strategies.contestants(isHinted: !options.withoutHints))
    options.tell(words)
    let meter = ProgressMeter()
    let comparison = experiment.compare(margin: Double(options.margin), options.perform) { done in
      meter.show("\(done) looks")
    }
    meter.clear()
    print(comparison.sentence(experiment.contestants[1].name, experiment.contestants[0].name))
  }
}
