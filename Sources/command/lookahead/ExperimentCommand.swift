import ArgumentParser
import Catalog
import Experiments
import Feed
import FeedServer
import JSON
import Prefetch
import RowStore
import System

/// Begins, shows, stops and undoes experiments on policies.
struct ExperimentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "experiment",
    abstract: "Try a policy on a share of the sessions, against the policy in force.",
    discussion: """
      Clients draw an arm, and report which one they had. A server of the database decides: it \
      gives arm b to more and more sessions, rolls back a worse policy, and applies a better one \
      (see docs/experiments.md).
      """,
    subcommands: [
      ExperimentStartCommand.self, ExperimentBeginCommand.self, ExperimentListCommand.self,
      ExperimentStopCommand.self, ExperimentUndoCommand.self,
    ])
}

/// Begins an experiment.
struct ExperimentStartCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "start", abstract: "Begin an experiment: a policy against the one in force.")

  @Option(help: "Feed; default: all feeds without a policy of their own.")
  var feed: String?

  @Option(help: "Network profile; default: all networks.")
  var network: String?

  @Option(
    help: ArgumentHelp(
      "Policy to try: a strategy, with parameters that differ from its defaults, or weighted-5.",
      valueName: "name:k=v,…"))
  var against: String

  @Option("share") var share: Int
  @Option("margin-percent") var marginPercent: Int
  @Option("days") var days: Int

  @OptionGroup var options: DatabaseOptions

  mutating func validate() throws {
    try Setting.validate(self)
    _ = try setting()
  }

  private func setting() throws -> Policy {
    do throws(StrategyError) {
      return try Policy(text: against)
    } catch {
      throw ValidationError("--against: \(error)")
    }
  }

  func run() throws {
    let store = try options.openExisting()
    defer { try? store.close() }
    var limits = ExperimentLimits()
    (limits.sharePermille, limits.marginPercent, limits.days) = (
      10 * share, marginPercent, days
    )
    let id = try store.begin(
      NewTrial(
        feed: feed, network: network, setting: try setting(), limits: limits,
        reason: "lookahead experiment start"), at: .now)
    print("experiment \(id) runs: \(against) for \(limits.ramp[0]) of 1000 sessions at first")
  }
}

/// Begins a suggested experiment.
struct ExperimentBeginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "begin", abstract: "Begin an experiment that lookahead tune has suggested.")

  @Argument(help: "Number of the suggestion.")
  var experiment: Int

  @OptionGroup var options: DatabaseOptions

  func run() throws {
    let store = try options.openExisting()
    defer { try? store.close() }
    let begun = try store.begin(experiment, reason: "lookahead experiment begin", at: .now)
    printText("experiment \(begun.id) runs: \(begun.setting.name)\n")
  }
}

/// Shows experiments.
struct ExperimentListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Show the newest experiments: what was done, and why.")

  /// The formats of the output.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case text, json
  }

  @Option(help: "Output format: text or json.")
  var format = Format.text

  @OptionGroup var options: DatabaseOptions

  func run() throws {
    let store = try options.openExisting()
    defer { try? store.close() }
    let ledger = try ExperimentLedger(
      store, atHour: WallClock.secondsSince1970 / 3_600, onlyRunning: false)
    if format == .json {
      var writer = JSONWriter()
      writer.experiments(ledger)
      return try printBytes(writer.bytes + [UInt8(ascii: "\n")])
    }
    if ledger.entries.isEmpty { print("no experiments") }
    for entry in ledger.entries { printText(Self.text(entry)) }
  }

  private static func text(_ entry: ExperimentLedger.Entry) -> String {
    let experiment = entry.experiment
    let whose = experiment.feed.map { "feed \($0)" } ?? "all feeds without a policy of their own"
    let network = experiment.network ?? "all networks"
    var lines = [
      "experiment \(experiment.id), \(experiment.kind.rawValue): \(experiment.setting.name) on "
        + "\(whose), \(network)"
    ]
    for step in experiment.steps {
      let share = step.kind.isRunning ? " at \(Double(step.sharePermille) / 10) %" : ""
      let reason = (try? JSONDocument(step.evidence).root.member("reason")?.text) ?? ""
      lines.append("  \(step.takenAt.rfc3339) \(step.kind.rawValue)\(share): \(reason)")
    }
    if experiment.isWaiting {
      lines.append("  waiting: begin it with lookahead experiment begin \(experiment.id)")
    }
    if experiment.isRunning {
      let detectable = entry.finding.detectablePercent.map {
        "; detectable difference at the end: \(($0 * 10).rounded() / 10) %"
      }
      lines.append(
        "  now \(entry.finding.verdict.rawValue): \(entry.finding.words)\(detectable ?? "")")
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

/// Stops an experiment.
struct ExperimentStopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop",
    abstract: "Stop an experiment: all sessions get the policy in force. A suggestion is declined."
  )

  @Argument(help: "Number of the experiment.")
  var experiment: Int

  @OptionGroup var options: DatabaseOptions

  func run() throws {
    let store = try options.openExisting()
    defer { try? store.close() }
    try store.take(.stopped, of: experiment, reason: "lookahead experiment stop", at: .now)
    print("experiment \(experiment) is stopped")
  }
}

/// Takes back the policy that an experiment applied.
struct ExperimentUndoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Undo the policy that an experiment applied: the previous one is in force again.")

  @Argument(help: "Number of the experiment.")
  var experiment: Int

  @OptionGroup var options: DatabaseOptions

  func run() throws {
    let store = try options.openExisting()
    defer { try? store.close() }
    try store.take(.undone, of: experiment, reason: "lookahead experiment undo", at: .now)
    print("the policy that experiment \(experiment) applied is undone")
  }
}
