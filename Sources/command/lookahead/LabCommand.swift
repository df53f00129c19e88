import ArgumentParser
import Foundation
import Lab
import Prefetch

struct LabCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lab",
    abstract: "Measure strategies: loaders per 1000 items, waits and bytes, on simulated networks.",
    subcommands: [
      LabRunCommand.self, LabSweepCommand.self, LabCompareCommand.self, LabReportCommand.self,
      LabApplyCommand.self, LabValidateCommand.self,
    ])
}

/// Runs each strategy a given number of times on each network.
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

  @Flag(help: "Print the first strategy's first run on the first network instead, event by event.")
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

  @OptionGroup var grid: LabGridOptions

  @Flag(help: "Find the best setting with fewer runs than the whole grid takes.")
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
  }

  func run() throws {
    let isHinted = !options.withoutHints
    let (experiment, words) = try options.experiment(
      try grid.contestants(isHinted: isHinted) + grid.priced(isHinted: isHinted))
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
