import ArgumentParser
import Foundation
import Lab
import Prefetch
import Synchronization
import System

/// The strategies to measure.
struct LabStrategies: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Strategy, such as plain or weighted:leading=5,maxCost=7; may be repeated. Parameters that \
      are left out have their defaults. Default: all strategies. The bound that no policy beats \
      (clairvoyant) is always shown as well; given alone, only the bound is computed.
      """, valueName: "name:parameters"))
  var strategy: [String] = []

  func contestants(isHinted: Bool) throws -> [Contestant] {
    let texts =
      strategy.isEmpty
      ? Policy.Strategy.usual.map(\.name)
      : strategy.filter {
        $0 != RunBound.name
      }
    return try texts.map { try Self.contestant($0, isHinted: isHinted) }
  }

  /// The contestant of a text such as `weighted:maxCost=7`.
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

/// The conditions of the runs.
struct LabOptions: ParsableArguments {
  /// The formats of the results.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case table, csv, json
  }

  @Option(
    help: ArgumentHelp(
      """
      Network profile, such as 3g; may be repeated. Without it and --trace: 3g, or with --bitrates \
      high, medium and low.
      """, valueName: "name"))
  var network: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      Recorded network, or a folder of them: JSON lists of {"duration_ms", "bandwidth_kbps", \
      "latency_ms"}.
      """, valueName: "file"))
  var trace: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      File in JSON with the watch times of clips, by duration and by item id; or learned, for the \
      watch times that the database has learned of the feed's items. Viewers then wait, fling and \
      turn back. Default: they view one item a second, loaded or not.
      """, valueName: "file|learned"))
  var watch: String?

  @OptionGroup var feed: LabFeedOptions

  @Flag(help: "Simulate a server without facts about files: the policy's defaults apply.")
  var withoutHints = false

  @Flag(help: "Simulate a server that has not learned watch times.")
  var withoutSurvival = false

  @Option(
    help: ArgumentHelp(
      "Time of a decoder to show a clip's first frame, in milliseconds; default: 80.",
      valueName: "ms"))
  var decoderMilliseconds: Int?

  @Flag(help: "Simulate a device under stress.")
  var stress = false

  @Option("items") var items: Int
  @Option("repeats") var repeats: Int
  @Option("seed") var seed: Int
  @Option("margin") var margin: Int
  @Option("precision") var precision: Int?
  @Option("jobs") var jobs: Int

  @Option(help: "Output format: table, csv or json.")
  var format = Format.table

  /// Checks the numbers of a command.
  func check(_ command: some ParsableArguments) throws {
    try Setting.validate(command)
    guard !feed.bitrates || watch == nil else {
      throw ValidationError(
        "--bitrates and --watch exclude each other: the generated clips have watch curves")
    }
    if let decoderMilliseconds, !(0...Self.longestDecoderMilliseconds).contains(decoderMilliseconds)
    {
      throw ValidationError(
        "--decoder-milliseconds: \(decoderMilliseconds) is not in 0…\(Self.longestDecoderMilliseconds)"
      )
    }
    if feed.feed == nil { _ = try profiles(NetworkProfile.usual) }
  }

  /// The maximum in `PrefetchSettings`.
  private static let longestDecoderMilliseconds = 600_000

  /// The experiment, and a description of its feed.
  func experiment(_ contestants: [Contestant]) throws -> (Experiment, feed: String) {
    var source = try feed.source(seed: seed)
    let watch = try watchModel()
    if isLearned, source.learnedItems == 0 {
      throw ValidationError("--watch learned: the feed has no item with learned watch times")
    }
    var contestants = contestants
    for index in contestants.indices {
      if withoutSurvival { contestants[index].isLearned = false }
      contestants[index].isStressed = stress
      if let decoderMilliseconds {
        contestants[index].settings.decoderStartMilliseconds = decoderMilliseconds
      }
    }
    let viewer =
      watch.map { ViewerModel.watching($0) }
      ?? (feed.bitrates ? .challenge : isLearned ? .retained : .steady)
    if case .recorded(let feed, let turns) = source.feed, let watch {
      source.feed = .recorded(feed.watched(watch.items), turns: turns)
    }
    var experiment = Experiment(
      contestants: contestants, networks: try profiles(known()) + traces(),
      feed: source.feed, viewer: viewer, items: items, repeats: repeats, seed: UInt64(seed))
    if feed.bitrates {
      for index in experiment.networks.indices { experiment.networks[index].link.connections = 1 }
      for index in experiment.contestants.indices {
        experiment.contestants[index].settings.parallelTransfers = 1
      }
    }
    if !source.looks.isEmpty, watch == nil {
      // The recorded viewer looked at this many items and no more.
      experiment.viewer = .replaying(source.looks)
      experiment.items = min(items, source.looks.count)
    }
    return (experiment, source.words)
  }

  /// A description of the viewers.
  var viewerWords: String {
    watch.map { isLearned ? "people as learned" : "people as in \($0)" }
      ?? (feed.bitrates ? "people who watch each clip by its curve" : "one item a second")
  }

  /// Whether viewers watch as the database has learned.
  private var isLearned: Bool { watch == "learned" }

  /// The network profiles of the database with the feed, or else those of a new database.
  private func known() throws -> [NetworkProfile] {
    guard feed.feed != nil else { return NetworkProfile.usual }
    let store = try feed.store()
    defer { try? store.close() }
    try store.refresh()
    return try store.snapshot().policyBook.networks
  }

  private func watchModel() throws -> WatchModel? {
    guard let watch, !isLearned else { return nil }
    let json = try Self.content(watch)
    do throws(WatchModelError) {
      return try WatchModel(json: json)
    } catch {
      throw LabInputError(file: watch, words: "\(error)")
    }
  }

  private func profiles(_ known: [NetworkProfile]) throws -> [LabNetwork] {
    let made = feed.bitrates ? LabNetwork.challenge(seed: UInt64(seed)) : []
    let usual = feed.bitrates ? made.map(\.name) : ["3g"]
    return try (network.isEmpty && trace.isEmpty ? usual : network).map { name in
      if let network = made.first(where: { $0.name == name }) { return network }
      guard let profile = known.first(where: { $0.name.isSame(as: name) }) else {
        let names = (known.map(\.name) + made.map(\.name)).joined(separator: ", ")
        throw ValidationError(
          "--network: there is no profile \"\(name)\"; known profiles: \(names)")
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

/// An error in a file that the lab reads.
struct LabInputError: Error, CustomStringConvertible {
  let file: String
  let words: String
  /// Whether the file is a valid session in which nothing can be replayed.
  var isOfSession = false

  var description: String { "\(file): \(words)" }
}

extension LabOptions {
  /// The maximum size of a file.
  private static let fileBytes = 64 << 20

  /// The files that an argument names: the file itself, or the `.json` files of a folder, by name.
  static func files(_ path: String) throws -> [String] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw LabInputError(file: path, words: "there is no such file")
    }
    guard isFolder.boolValue else { return [path] }
    return try FileSystem.names(in: path).filter { $0.hasSuffix(".json") }.sorted()
      .map { path + "/" + $0 }
  }

  static func content(_ path: String) throws -> [UInt8] {
    guard let file = FileHandle(forReadingAtPath: path),
      let data = try file.read(upToCount: fileBytes + 1)
    else { throw LabInputError(file: path, words: "cannot be read, or is empty") }
    guard data.count <= fileBytes else {
      throw LabInputError(file: path, words: "has more than \(fileBytes) bytes")
    }
    return Array(data)
  }

  /// Calls the body for each number below the count, `--jobs` at once.
  func perform(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let work = Work(count: count, body: body)
    runConcurrently(min(jobs, max(1, count))) { _ in work.run() }
  }

  /// The results of the experiment, with a progress bar on standard error.
  func results(of experiment: Experiment) -> ExperimentResults {
    let meter = ProgressMeter()
    defer { meter.clear() }
    if let precision {
      let results = experiment.results(
        precise: Double(precision), atMost: Self.mostRepeats, perform, progress: Self.show(meter))
      if !results.isPrecise(Double(precision)) {
        meter.report(
          "after \(results.repeats) repeats, some confidence intervals are still wider than "
            + "--precision"
        )
      }
      return results
    }
    let count = experiment.runCount
    let show = Self.show(meter)
    return experiment.results(perform) { done in show(done, count) }
  }

  /// The maximum number of repeats with `--precision`.
  private static let mostRepeats = 1_000

  static func show(_ meter: ProgressMeter) -> @Sendable (Int, Int) -> Void {
    { done, count in
      if done % 16 == 0 || done == count { meter.show(bar(done, of: count)) }
    }
  }

  private static func bar(_ done: Int, of count: Int) -> String {
    let filled = done * 30 / max(1, count)
    return "[" + String(repeating: "#", count: filled)
      + String(repeating: ".", count: 30 - filled) + "] \(done) of \(count) runs"
  }

  /// Describes a feed that is not generated: on standard error, as that is no part of the results.
  func tell(_ words: String) {
    if feed.feed != nil || !feed.input.isEmpty { ProgressMeter().report(words) }
  }

  func write(_ results: ExperimentResults) {
    switch format {
    case .table: printText(results.table(margin: Double(margin)))
    case .csv: printText(results.csv)
    case .json: print(String(decoding: results.json(margin: Double(margin)), as: UTF8.self))
    }
  }

  func write(_ tuning: Tuning, _ evidence: TuningEvidence) {
    let margin = Double(margin)
    switch format {
    case .table: printText(tuning.table(margin: margin))
    case .csv: printText(tuning.csv)
    case .json: print(String(decoding: tuning.json(evidence, margin: margin), as: UTF8.self))
    }
  }
}

/// Numbered work that several threads share.
private final class Work: Sendable {
  private let next = Atomic(0)
  private let count: Int
  private let body: @Sendable (Int) -> Void

  init(count: Int, body: @escaping @Sendable (Int) -> Void) {
    self.count = count
    self.body = body
  }

  func run() {
    while true {
      let index = next.add(1, ordering: .relaxed).oldValue
      guard index < count else { return }
      body(index)
    }
  }
}
