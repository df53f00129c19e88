import ArgumentParser
import FeedFormats
import Foundation
import MediaFiles
import MediaIndex
import MediaProbe
import RowStore
import Seeding
import Service
import System

struct SeedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "seed",
    abstract: "Load posts into the database, creating and migrating it as needed.",
    discussion: """
      Reads the program's own records, as NDJSON or a JSON array, and CSV, JSON Feed, RSS, Atom, \
      Mastodon timelines and Reddit listings, each optionally compressed with gzip or Zstandard; \
      the format is detected from the content. Reading the same input twice changes nothing. All \
      inputs are checked before the first is loaded. A bad record is skipped and reported as \
      FILE:LINE: problem; of similar problems, the first twenty are shown. The last line then has \
      the number of skipped records, and the exit status is 1.
      """)

  @OptionGroup var options: DatabaseOptions

  @Argument(
    help: "Feed files; - is standard input. By default, the files of --fixtures are loaded.")
  var files: [String] = []

  @Option("fixtures", default: "Fixtures", "Folder of the files to load if no FILE is given.")
  var fixtures: String

  @Flag(
    "strict", "Stop at the first bad record; the records before it are loaded, but no new ranking.")
  var strict: Bool

  @OptionGroup var shape: ShapeOptions

  @Flag("probe", "Also probe the files of --media-root that posts name, as media add does.")
  var probe: Bool

  @Option(help: "Folder of the files under /media/, or s3://bucket/prefix.")
  var mediaRoot: String?

  @Option("jobs") var jobs: Int

  @OptionGroup var decoding: DecodingOptions

  @OptionGroup var loading: NumberOptions<LoadingOptions>

  @Option("generate") var generate: Int?

  @Option(help: "Seed of generated posts: the same number generates the same posts.")
  var randomSeed = Environment.number("random-seed", default: UInt64(1))

  mutating func validate() throws {
    try Setting.validate(self)
    mediaRoot = mediaRoot ?? Environment.text("media-root")
    if probe, mediaRoot == nil { throw ValidationError("--probe needs --media-root") }
    if generate != nil, !files.isEmpty {
      throw ValidationError("--generate and files exclude each other")
    }
  }

  func run() throws {
    // No client waits for the command, and servers on this machine have clients that do.
    CurrentThread.schedule(.background)
    var configuration = FeedServiceConfiguration(try options.location())
    Setting.apply(Setting.list(of: self), to: &configuration)
    configuration.application.seeder.isStrict = strict
    shape.apply(to: &configuration.application.seeder)
    let seeder = configuration.application.seeder
    // Checked before anything is written.
    let inputs = try generate == nil ? seeder.inspect(inputs()) : []
    let storage = try probe ? mediaRoot.map { try MediaStorage.named($0) } : nil
    configuration.opening.file = configuration.opening.file.forMuch
    let store = try configuration.opening.open(configuration.location).store
    let meter = ProgressMeter()
    var problems = ProblemTally()
    do {
      let report =
        if let generate {
          try seeder.run(
            PostGenerator(count: generate, seed: randomSeed), into: store, onProgress: meter.show)
        } else {
          try seeder.run(
            inputs, into: store, onProblem: { if problems.note($0) { meter.report($0) } },
            onProgress: meter.show)
        }
      meter.clear()
      // Prints what was loaded even if closing fails.
      let printing = Result { try print(report, problems, seconds: meter.seconds) }
      let probing = Result { if let storage { try look(into: storage, store) } }
      try store.close()
      try probing.get()
      try printing.get()
    } catch let stopped as SeedStopped {
      meter.report(stopped.problem)
      printError(
        "stopped at the first bad record; the records before it are loaded, but new places of "
          + "posts in feeds are published only by a complete run")
      throw ExitCode.failure
    } catch let error as SeedInputError {
      meter.clear()
      printError("\(error)")
      printError(
        "complete batches before it are loaded, but new places of posts in feeds are published "
          + "only by a complete run")
      throw ExitCode.failure
    }
  }

  /// Analyzes the files that posts name, and stores the facts about them.
  private func look(into storage: MediaStorage, _ store: any DatabaseStore) throws {
    let indexer = MediaIndexer(
      storage, addresses: MediaAddresses.served, store: store,
      probe: MediaProbe(settings: decoding.settings), jobs: jobs)
    try indexer.run([.namedByPosts], showing: ProgressMeter())
  }

  /// The named files, or the fixtures.
  private func inputs() throws -> [SeedInput] {
    let paths = try files.isEmpty ? SeedInput.paths(in: fixtures) : files
    return try paths.map { path throws(SeedInputError) in try SeedInput(path: path) }
  }

  private func print(_ report: SeedReport, _ problems: ProblemTally, seconds: Double) throws {
    let summary = report.summary
    for feed in summary.rankedAnew { lookahead.print("\(feed): new ranking") }
    let total = summary.added + summary.changed + summary.unchanged
    let rate = seconds > 0 ? Int(Double(total) / seconds) : total
    let counts =
      "\(summary.added) added, \(summary.changed) changed, \(summary.unchanged) unchanged"
    let speed = "in \(String(format: "%.1f", seconds)) s, \(rate) a second"
    if summary.added + summary.changed == 0, summary.rankedAnew.isEmpty {
      lookahead.print("nothing changed: \(counts) \(speed)")
    } else {
      lookahead.print("\(counts) \(speed)")
    }
    if !report.omissions.isEmpty { printError("not kept: \(report.omissions)") }
    if report.withoutFeed > 0 {
      let posts = report.withoutFeed == 1 ? "1 post names" : "\(report.withoutFeed) posts name"
      printError("warning: \(posts) no feed and are in none; use --feed NAME to put them into one")
    }
    guard report.skipped > 0 else { return }
    for line in problems.rest { printError(line) }
    printError("\(report.skipped) \(report.skipped == 1 ? "line" : "lines") skipped")
    throw ExitCode.failure
  }
}
