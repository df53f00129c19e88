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
    abstract: "Run strategies on networks, and print the results.",
    discussion: """
      Each strategy sees the same viewers, networks and feeds. The table has the mean of every \
      figure. The ± next to the loaders is a 95 % interval that is valid at any time. The last \
      column compares each strategy with the first.
      """)

  @OptionGroup var strategies: LabStrategies
  @OptionGroup var options: LabOptions

  @Flag(help: "Print the first strategy's first run on the first network instead, event by event.")
  var explain = false

  @Option(
    help: ArgumentHelp(
      """
      Disturb all runs: heads stated a fifth too small or too large, bandwidth measured at a third \
      or three times its value, watch curves of other clips, 20 seconds in every two minutes \
      without any transfer, or viewers who fling after every item.
      """, valueName: "name"))
  var wrong: Disturbance?

  @Flag(
    help: """
      Give clients the viewer's path: the feed contains the viewed items in their order. A run \
      without this shows what not knowing the path costs a strategy.
      """)
  var pathKnown = false

  mutating func validate() throws {
    try options.check(self)
    let contestants = try strategies.contestants(isHinted: !options.withoutHints)
    guard !explain || !contestants.isEmpty else {
      throw ValidationError(
        "--explain: \(RunBound.name) is a bound and has no runs; name a strategy")
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
    abstract: "Run the weighted strategy with every setting of a grid.",
    discussion: """
      The grid combines every maximum cost with every cost of a video and of an image: the \
      article's experiment. The current setting (maximum cost 5, video 2, image 1) comes first; \
      the others are compared with it. The best one is judged on other data: every second recorded \
      network is held back for that, and for a profile other feeds and viewers are drawn. The \
      output also lists the settings that no other beats in both bytes and the deciding figure. \
      lab apply reads the result as JSON.
      """)

  @OptionGroup var grid: LabGridOptions

  @Flag(help: "Search for the best setting with fewer runs than the whole grid takes.")
  var search = false

  @Option(help: "Deciding figure: delay (waiting, standing and stalls) or loaders.")
  var by: LabDecider?

  @Option("budget-kilobytes") var budgetKilobytes: Int?
  @Option("megabyte-loaders") var megabyteLoaders: Int?
  @OptionGroup var options: LabOptions

  mutating func validate() throws {
    try options.check(self)
    guard budgetKilobytes == nil || megabyteLoaders == nil else {
      throw ValidationError("--budget-kilobytes and --megabyte-loaders exclude each other")
    }
    guard megabyteLoaders == nil || by != .delay else {
      throw ValidationError("--megabyte-loaders and --by delay exclude each other")
    }
    guard options.precision == nil else {
      throw ValidationError("--precision: a sweep takes --repeats instead")
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

/// Compares one strategy with another, with as many runs as the result needs.
struct LabCompareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract:
      "Compare the second of two strategies with the first, until it is clear which is better.",
    discussion: """
      Checks the result after every repeat (with several networks, after every network), and stops \
      when the second strategy is better, worse, or equivalent within --margin, by the figure of \
      --by, or after --repeats. Checking early is safe: over all checks together, at most 5 % of \
      comparisons are ever wrong.
      """)

  @Option(help: "Deciding figure: delay (waiting, standing and stalls) or loaders.")
  var by = LabDecider.delay

  @OptionGroup var strategies: LabStrategies
  @OptionGroup var options: LabOptions

  mutating func validate() throws {
    try options.check(self)
    guard options.precision == nil else {
      throw ValidationError(
        "--precision: a comparison decides itself when to stop, at the latest after --repeats")
    }
    guard strategies.strategy.count == 2,
      try strategies.contestants(isHinted: !options.withoutHints).count == 2
    else {
      throw ValidationError("--strategy must be given twice, for two strategies to compare")
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
