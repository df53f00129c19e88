import ArgumentParser
import Foundation
import Lab
import Prefetch
import Synchronization
import System

/// Which strategies are measured.
struct LabStrategies: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      A strategy, such as plain or weighted:leading=5,maxCost=7; several times for several. Parameters \
      that are left out are the usual ones. Without any, all strategies.
      """, valueName: "name:parameters"))
  var strategy: [String] = []

  /// The strategies with their usual parameters: what is measured where nobody says.
  private static let usual: [Policy.Strategy] = [
    .weighted(leading: 5, maxCost: 5), .plain(leading: 5), .standard(leading: 1), .endless,
    .thresholdFixed(percent: 70), .thresholdDynamic(percent: 70),
    .lazyTarget(leading: 2, trailing: 1), .rangeController(RangeTuning()),
    .stages(StageTuning()), .expectedWait(WaitTuning()),
  ]

  func contestants(isHinted: Bool) throws -> [Contestant] {
    let texts = strategy.isEmpty ? Self.usual.map(\.name) : strategy
    return try texts.map { text in
      let strategy = try Self.strategy(text)
      return Contestant(
        name: text, policy: Policy(name: strategy.name, strategy: strategy), isHinted: isHinted)
    }
  }

  private static func strategy(_ text: String) throws -> Policy.Strategy {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    let usual = usual.first { $0.name == name }?.parameters ?? []
    var parameters = Dictionary(uniqueKeysWithValues: usual.map { ($0.name, $0.value) })
    for pair in parts.count > 1 ? parts[1].split(separator: ",") : [] {
      let sides = pair.split(separator: "=", omittingEmptySubsequences: false)
      guard sides.count == 2, let value = Int(sides[1]) else {
        throw ValidationError("--strategy: \"\(pair)\" is no parameter such as leading=5")
      }
      parameters[String(sides[0])] = value
    }
    do throws(StrategyError) {
      return try Policy.Strategy(name: name, parameters: parameters)
    } catch {
      throw ValidationError("--strategy \(text): \(error)")
    }
  }
}

/// What strategies are measured on, and how.
struct LabOptions: ParsableArguments {
  /// How results are written.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case table, csv, json
  }

  @Option(
    help: ArgumentHelp(
      "A network profile, such as 3g; several times for several. Without any and without --trace, 3g.",
      valueName: "name"))
  var network: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      A recorded network, or a folder of such: JSON lists of {"duration_ms", "bandwidth_kbps", "latency_ms"}.
      """, valueName: "file"))
  var trace: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      How people watch clips, as JSON; they then wait, fling and turn round. Without it they look at one \
      item a second, whatever is there.
      """, valueName: "file"))
  var watch: String?

  @Flag(help: "The server tells nothing about files: the policy's guesses apply.")
  var withoutHints = false

  @Option("items") var items: Int
  @Option("repeats") var repeats: Int
  @Option("seed") var seed: Int
  @Option("margin") var margin: Int
  @Option("jobs") var jobs: Int

  @Option(help: "How results are written: table, csv or json.")
  var format = Format.table

  /// Checks the numbers of a command.
  func check(_ command: some ParsableArguments) throws {
    try Setting.validate(command)
    _ = try profiles()
  }

  func experiment(_ contestants: [Contestant]) throws -> Experiment {
    Experiment(
      contestants: contestants, networks: try profiles() + traces(),
      feed: .generated(FeedModel()), viewer: try viewer(), items: items, repeats: repeats,
      seed: UInt64(seed))
  }

  private func viewer() throws -> ViewerModel {
    guard let watch else { return .steady }
    let json = try Self.content(watch)
    do throws(WatchModelError) {
      return .watching(try WatchModel(json: json))
    } catch {
      throw LabInputError(file: watch, words: "\(error)")
    }
  }

  private func profiles() throws -> [LabNetwork] {
    try (network.isEmpty && trace.isEmpty ? ["3g"] : network).map { name in
      guard let profile = NetworkProfile.usual.first(where: { $0.name.isSame(as: name) }) else {
        let known = NetworkProfile.usual.map(\.name).joined(separator: ", ")
        throw ValidationError("--network: there is no profile \"\(name)\", but \(known)")
      }
      return LabNetwork(profile)
    }
  }

  private func traces() throws -> [LabNetwork] {
    try trace.flatMap(Self.files).map { path in
      let json = try Self.content(path)
      let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
      do throws(LinkTraceError) {
        return LabNetwork(name: name, trace: try LinkSchedule(trace: json))
      } catch {
        throw LabInputError(file: path, words: "\(error)")
      }
    }
  }
}
