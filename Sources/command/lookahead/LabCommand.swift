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
      LabApplyCommand.self, LabValidateCommand.self, LabReplayCommand.self,
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

  @Option(
    help: ArgumentHelp(
      """
      What is wrong in all runs: heads said to be a fifth smaller or larger than they are, bandwidth measured a third or \
      three times of what it is, other clips' watch curves, 20 seconds of every two minutes in which nothing passes, or \
      people who fling after every item.
      """, valueName: "name"))
  var wrong: Disturbance?

  @Flag(
    help: """
      Clients know where the person goes: the feed has what they come to, in that order. What not knowing it costs a \
      strategy shows beside a run without this.
      """)
  var pathKnown = false

  mutating func validate() throws {
    try options.check(self)
    let contestants = try strategies.contestants(isHinted: !options.withoutHints)
    guard !explain || !contestants.isEmpty else {
      throw ValidationError("--explain: \(RunBound.name) is a bound, and makes no run")
    }
  }

  func run() throws {
    var (experiment, words) = try options.experiment(
      try strategies.contestants(isHinted: !options.withoutHints))
    options.tell(words)
    if let wrong { experiment = experiment.disturbed(by: wrong) }
    experiment.isPathKnown = pathKnown
    if explain {
      for line in experiment.explain(contestant: 0, network: 0, repeat: 0) { print(line) }
    } else {
      options.write(options.results(of: experiment))
    }
  }
}

extension Disturbance: ExpressibleByArgument {}

/// The figure by which a sweep or a comparison decides.
enum LabDecider: String, CaseIterable, ExpressibleByArgument {
  case delay, loaders

  var measure: RunFigures.Measure { self == .delay ? .delayMilliseconds : .loaders }
}

/// Runs a grid of settings.
struct LabSweepCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sweep",
    abstract: "Run the weighted strategy with each of a grid of settings.",
    discussion: """
      The grid is every maximum cost with every cost of a video and of an image: the article's experiment. \
      The current setting, maximum cost 5, video 2, image 1, comes first, and the others are held against it. \
      The best one is judged on other data: of recorded networks every second one is kept back for that, on a \
      profile other feeds and viewers are drawn. It stands beside all settings that nothing beats in both bytes \
      and the figure that decides. What lab apply takes is the result as JSON.
      """)

  @OptionGroup var grid: LabGridOptions

  @Flag(help: "Find the best setting with fewer runs than the whole grid takes.")
  var search = false

  @Option(help: "The figure that decides: delay (waiting, standing and stalls) or loaders.")
  var by: LabDecider?

  @Option("budget-kilobytes") var budgetKilobytes: Int?
  @Option("megabyte-loaders") var megabyteLoaders: Int?
  @OptionGroup var options: LabOptions

  mutating func validate() throws {
    try options.check(self)
    guard budgetKilobytes == nil || megabyteLoaders == nil else {
      throw ValidationError("--budget-kilobytes and --megabyte-loaders: it is one or the other")
    }
    guard megabyteLoaders == nil || by != .delay else {
      throw ValidationError("--megabyte-loaders counts loaders: it does not go with --by delay")
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
    if let megabyteLoaders {
      return Objective(.loaders, .priced(perMegabyte: Double(megabyteLoaders)))
    }
    return Objective(
      (by ?? .delay).measure, budgetKilobytes.map { .kilobytes(Double($0)) } ?? .current())
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
      --margin, by the figure that --by names, at the latest after --repeats: looking early costs nothing, since of all looks together \
      at most 5 % of comparisons are ever wrong. On several networks it looks after every network.
      """)

  @Option(help: "The figure that decides: delay (waiting, standing and stalls) or loaders.")
  var by = LabDecider.delay

  @OptionGroup var strategies: LabStrategies
  @OptionGroup var options: LabOptions

  mutating func validate() throws {
    try options.check(self)
    guard options.precision == nil else {
      throw ValidationError("--precision: a comparison has as many repeats as it takes")
    }
    guard strategies.strategy.count == 2,
      try strategies.contestants(isHinted: !options.withoutHints).count == 2
    else {
      throw ValidationError("--strategy is to be given twice: two strategies are compared")
    }
  }

  func run() throws {
    let (experiment, words) = try options.experiment(
      try strategies.contestants(isHinted: !options.withoutHints))
    options.tell(words)
    let meter = ProgressMeter()
    let comparison = experiment.compare(
      by.measure, margin: Double(options.margin), options.perform
    ) { done in meter.show("\(done) looks") }
    meter.clear()
    print(
      comparison.sentence(
        experiment.contestants[1].name, experiment.contestants[0].name, of: by.measure))
  }
}
