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

  func contestants(isHinted: Bool) throws -> [Contestant] {
    let texts = strategy.isEmpty ? Policy.Strategy.usual.map(\.name) : strategy
    return try texts.map { try Self.contestant($0, isHinted: isHinted) }
  }

  /// The client that a text such as `weighted:maxCost=7` means.
  static func contestant(_ text: String, isHinted: Bool) throws -> Contestant {
    do throws(StrategyError) {
      let strategy = try Policy.Strategy(text: text)
      return Contestant(
        name: text, policy: Policy(name: strategy.name, strategy: strategy), isHinted: isHinted)
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

  @OptionGroup var feed: LabFeedOptions

  @Flag(help: "The server tells nothing about files: the policy's guesses apply.")
  var withoutHints = false

  @Option("items") var items: Int
  @Option("repeats") var repeats: Int
  @Option("seed") var seed: Int
  @Option("margin") var margin: Int
  @Option("precision") var precision: Int?
  @Option("jobs") var jobs: Int

  @Option(help: "How results are written: table, csv or json.")
  var format = Format.table

  /// Checks the numbers of a command.
  func check(_ command: some ParsableArguments) throws {
    try Setting.validate(command)
    if feed.feed == nil { _ = try profiles(NetworkProfile.usual) }
  }

  /// The experiment, and what is scrolled in it, in words.
  func experiment(_ contestants: [Contestant]) throws -> (Experiment, feed: String) {
    let source = try feed.source(seed: seed)
    var experiment = Experiment(
      contestants: contestants, networks: try profiles(known()) + traces(),
      feed: source.feed, viewer: try viewer(), items: items, repeats: repeats, seed: UInt64(seed))
    if !source.looks.isEmpty, watch == nil {
      // Whoever was watched looked at so many items and no more.
      experiment.viewer = .replaying(source.looks)
      experiment.items = min(items, source.looks.count)
    }
    return (experiment, source.words)
  }

  /// By whom, in words.
  var viewerWords: String { watch.map { "people as in \($0)" } ?? "one item a second" }

  /// The profiles of the database whose feed is scrolled, or else those of a new one.
  private func known() throws -> [NetworkProfile] {
    guard feed.feed != nil else { return NetworkProfile.usual }
    let store = try feed.store()
    defer { try? store.close() }
    try store.refresh()
    return try store.snapshot().policyBook.networks
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

  private func profiles(_ known: [NetworkProfile]) throws -> [LabNetwork] {
    try (network.isEmpty && trace.isEmpty ? ["3g"] : network).map { name in
      guard let profile = known.first(where: { $0.name.isSame(as: name) }) else {
        let names = known.map(\.name).joined(separator: ", ")
        throw ValidationError("--network: there is no profile \"\(name)\", but \(names)")
      }
      return LabNetwork(profile)
    }
  }

  private func traces() throws -> [LabNetwork] {
    try trace.flatMap(Self.files).map { path in
      let json = try Self.content(path)
      let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        .escapedForTerminal()
      do throws(LinkTraceError) {
        return LabNetwork(name: name, trace: try LinkSchedule(trace: json))
      } catch {
        throw LabInputError(file: path, words: "\(error)")
      }
    }
  }
}
