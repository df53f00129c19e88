import ArgumentParser
import Feed
import Foundation
import Lab
import SHA2
import Version

/// Runs the strategies, the grid and expected-wait at several prices, and writes a page.
struct LabReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Run strategies on networks, and write a self-contained page with charts.",
    discussion: """
      The page shows loaders against bytes with the bound that no policy beats, the price of an \
      avoided loader, strategies by network, waiting times, a map of the grid on the first \
      network, one run over time, and all figures. --csv writes the figures to a file as well, by \
      run.
      """)

  @Option(help: ArgumentHelp("Page to write.", valueName: "file"))
  var output = "lab.html"

  @Option(
    help: ArgumentHelp("File to write the page's figures to, by run.", valueName: "file"))
  var csv: String?

  @Option(
    help: ArgumentHelp("Output of lab validate --json to include in the page.", valueName: "file")
  )
  var validation: String?

  @Flag(help: "Leave out the map of the grid, which takes most of the time.")
  var withoutGrid = false

  @Option("gigabyte-cents") var gigabyteCents: Int
  @OptionGroup var strategies: LabStrategies
  @OptionGroup var grid: LabGridOptions
  @OptionGroup var options: LabOptions

  mutating func validate() throws {
    try options.check(self)
    guard options.format == .table else {
      throw ValidationError("--format: a report is a page; use --csv to write its figures as well")
    }
    guard try !strategies.contestants(isHinted: !options.withoutHints).isEmpty else {
      throw ValidationError(
        "--strategy: \(RunBound.name) is a bound; a report needs a strategy as well")
    }
  }

  func run() throws {
    let validation = try validation.map(Self.validation)
    let isHinted = !options.withoutHints
    let named = try strategies.contestants(isHinted: isHinted)
    let priced = try grid.priced(isHinted: isHinted, usual: "250,1500,5000,20000")
    let (experiment, words) = try options.experiment(named + priced)
    options.tell(words)
    let results = options.results(of: experiment)
    var map: LabReport.Grid?
    if !withoutGrid {
      var part = experiment
      part.contestants = try grid.contestants(isHinted: isHinted)
      let settings = experiment.contestants[0].settings
      for index in part.contestants.indices { part.contestants[index].settings = settings }
      part.networks = Array(experiment.networks.prefix(1))
      map = LabReport.Grid(try grid.settings(), options.results(of: part))
    }
    var report = LabReport(
      LabReport.Origin(
        feed: words, viewer: options.viewerWords,
        date: Date.now.formatted(.iso8601.year().month().day()),
        program: "lookahead \(ProgramVersion.text)",
        traces: options.trace.joined(separator: ", "), gigabyteCents: gigabyteCents),
      experiment, results, prices: Array(named.count..<named.count + priced.count), grid: map,
      told: named.lastIndex { $0.policy.strategy.name == "expected-wait" } ?? 0,
      margin: Double(options.margin))
    report.validation = validation
    let hash = Data(SHA256.hash(Array(LabReport.style.utf8))).base64EncodedString()
    try Self.write(report.html(styleHash: hash), to: output)
    if let csv { try Self.write(results.csv, to: csv) }
  }

  private static func validation(_ path: String) throws -> Validation {
    let content = try LabOptions.content(path)
    do throws(ValidationFileError) {
      return try Validation(json: content)
    } catch {
      throw LabInputError(file: path, words: "\(error)")
    }
  }

  private static func write(_ text: String, to path: String) throws {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw LabInputError(file: path, words: "cannot be written: \(error.localizedDescription)")
    }
  }
}
