import Foundation
import Prefetch
import Statistics
import TestSupport
import Testing

@testable import Lab

/// The page of a report: its numbers are those of the CSV, and it needs nothing else.
@Suite struct ReportTests {
  private static let names = [
    "weighted:maxCost=5", "endless", "a <b> & \"c\"", "expected-wait:price=500",
  ]

  private static let experiment: Experiment = {
    let strategies: [Policy.Strategy] = [
      .weighted(leading: 10, maxCost: 5), .endless, .plain(leading: 3),
      .expectedWait(WaitTuning(price: 500)),
    ]
    return Experiment(
      contestants: zip(names, strategies).map { name, strategy in
        Contestant(name: name, policy: Policy(name: strategy.name, strategy: strategy))
      },
      networks: [SimulationTests.profile("3g"), SimulationTests.profile("dsl")],
      feed: .generated(FeedModel()), viewer: .steady, items: 40, repeats: 3, seed: 5)
  }()

  private static let results = experiment.results()

  private static let validation = Validation(
    [
      Validation.Pair(
        name: "endless", measuredLoaders: 987.6, simulatedLoaders: 1_000, measuredKilobytes: 33.3,
        simulatedKilobytes: 34.4, measuredDelay: 12.3, simulatedDelay: 11.1)
    ], margin: 2)

  private static func report(_ results: ExperimentResults = results) -> LabReport {
    var grid = experiment
    grid.networks = [experiment.networks[0]]
    let settings = [1, 5].flatMap { most in
      [1, 2].map { LabReport.Grid.Setting(maxCost: most, videoCost: $0, imageCost: 1) }
    }
    var report = LabReport(
      LabReport.Origin(
        feed: "made up", viewer: "one item a second", date: "2026-11-22", program: "lookahead 1",
        traces: "two files", gigabyteCents: 500),
      experiment, results, prices: [3], grid: LabReport.Grid(settings, grid.results()), told: 3,
      margin: 2)
    report.validation = validation
    return report
  }

  private static let html = report().html(styleHash: "HASH")

  /// The mean of a measure over the rows of the CSV.
  private static func mean(_ measure: String, _ network: String, _ strategy: String) -> Double {
    let lines = results.csv.components(separatedBy: "\r\n").filter { !$0.isEmpty }
    let column = lines[0].components(separatedBy: ",").firstIndex(of: measure)!
    let quoted = strategy.contains("\"") ? "\"a <b> & \"\"c\"\"\"" : strategy
    let rows = lines.filter { network == "all" || $0.hasPrefix(network + ",") }
      .filter { $0.contains("," + quoted + ",") }
      .map { $0.replacingOccurrences(of: quoted, with: "x").components(separatedBy: ",") }
    return rows.reduce(0) { $0 + Double($1[column])! } / Double(rows.count)
  }

  private static func unescaped(_ text: some StringProtocol) -> String {
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")].reduce(String(text)) {
      $0.replacingOccurrences(of: $1.0, with: $1.1)
    }
  }

  @Test func `every number of its table is the mean of the CSV's column`() throws {
    let body = try #require(Self.html.firstMatch(of: /<tbody>(?s)(.*)<\/tbody>/)).output.1
    var checked = 0
    for row in body.matches(of: /<tr(?s)(.*?)<\/tr>/) {
      let cells = row.output.1.matches(of: /<td([^>]*)>([^<]*)<\/td>/)
      let (network, strategy) = (String(cells[0].output.2), Self.unescaped(cells[2].output.2))
      for cell in cells {
        guard let measure = cell.output.1.firstMatch(of: /data-measure="(\w+)"/)?.output.1 else {
          continue
        }
        let decimals = cell.output.2.split(separator: ".").dropFirst().first?.count ?? 0
        let value = Self.mean(String(measure), network, strategy)
        // The CSV has three decimals.
        let shown = try #require(Double(cell.output.2))
        #expect(
          abs(shown - value) <= 0.5 * pow(10, -Double(decimals)) + 0.001,
          "\(network) \(strategy) \(measure)")
        checked += 1
      }
    }
    #expect(checked == 12 * 14 + 3 * 3)
  }

  @Test func `the dots and the words of the price have the CSV's numbers, too`() throws {
    var checked = 0
    for place in ["3g", "dsl"] {
      let section = try #require(Self.html.range(of: "Loaders against bytes on \(place)</title>"))
      let chart = Self.html[section.upperBound...].prefix { _ in true }
      let end = try #require(chart.range(of: "</svg>")).lowerBound
      for dot in chart[..<end].matches(
        of:
          /<title>([^<]*): ([0-9.]+) loaders per 1000, ([0-9.]+) ms of delay and ([0-9.]+) KB an item</
      ) {
        let name = Self.unescaped(dot.output.1)
        #expect(abs(Double(dot.output.2)! - Self.mean("loaders", place, name)) <= 0.051)
        #expect(abs(Double(dot.output.3)! - Self.mean("delayMilliseconds", place, name)) <= 0.051)
        #expect(abs(Double(dot.output.4)! - Self.mean("kilobytes", place, name)) <= 0.051)
        checked += 1
      }
    }
    #expect(checked == 8)
    for (network, place) in ["3g", "dsl"].enumerated() {
      let steps = Self.report().steps(network)
      let front = LabReport.front(Self.report().points(network, of: Self.results))
      #expect(steps.count == front.count)
      for (step, pair) in zip(steps.dropFirst(), zip(front, front.dropFirst())) {
        let names = (Self.names[pair.0.contestant], Self.names[pair.1.contestant])
        let bytes =
          (Self.mean("kilobytes", place, names.1) - Self.mean("kilobytes", place, names.0)) * 1_000
        let loaders = Self.mean("loaders", place, names.0) - Self.mean("loaders", place, names.1)
        let match = try #require(step.firstMatch(of: /costs ([0-9.]+) KB more, ([0-9.]+) for/))
        // It is shown with one decimal.
        let shown = try #require(Double(match.output.1))
        #expect(abs(shown - bytes / loaders) < max(0.051, bytes / loaders / 100))
        #expect(abs(Double(match.output.2)! - bytes / loaders * 5 / 1_000) < 0.02)
      }
    }
  }

  @Test func `what was held against the client library is shown with its numbers`() {
    #expect(
      Self.html.contains(
        "<td>987.6</td>\n<td>1000.0</td>\n<td>1.3</td>\n<td>12.3</td>\n<td>11.1</td>\n<td>33.3</td>\n<td>34.4</td>"
      ))
    #expect(Self.html.contains(Self.validation.sentence))
  }

  @Test func `a chart that stands alone is drawn for phones and for wide pages, others once`() {
    let alone = Self.html.matches(of: #/<div class="(narrow|wide)"><svg viewBox="0 0 ([0-9]+)/#)
      .map { "\($0.output.1) \($0.output.2)" }
    // The run that is told; all others have one for each network.
    #expect(alone == ["narrow 360", "wide 760"])
    var experiment = Self.experiment
    experiment.networks = [experiment.networks[0]]
    let report = LabReport(
      LabReport.Origin(feed: "", viewer: "", date: "", program: "", gigabyteCents: 1), experiment,
      experiment.results(), prices: [], grid: nil, told: 3, margin: 2)
    let page = report.html(styleHash: "")
    #expect(page.matches(of: /<div class="wide">/).count == 5)
    #expect(page.matches(of: /<div class="narrow">/).count == 5)
  }

  @Test func `what is not known says why, and tables scroll by keyboard`() {
    #expect(SequentialInterval.fewestValues == 5)
    #expect(Self.html.contains("<p>\(LabReport.unknownInterval)</p>"))
    #expect(Self.html.contains("<td><abbr title=\"\(LabReport.unknownInterval)\">?</abbr>"))
    #expect(!Self.html.contains("<td>?</td>"))
    let regions = Self.html.matches(
      of: /<div class="scroll" tabindex="0" role="region" aria-label="[^"]+">/)
    #expect(regions.count == 2 && Self.html.matches(of: /<table>/).count == 2)
  }

  @Test(arguments: [ChartFrame.Size.narrow, .wide])
  func `letters cover neither each other nor a point, however near these lie`(
    _ size: ChartFrame.Size
  ) {
    let frame = ChartFrame(x: ChartAxis("x", upTo: 10), y: ChartAxis("y", upTo: 10), size)
    var random = LabRandom(seed: 27)
    for count in [1, 2, 11, 30] {
      for spread in [0.0, 0.1, 1, 10] {
        let points = (0..<count).map { _ in
          ChartLabels.Point(
            x: frame.place(x: Double.random(in: 0...1, using: &random) * spread),
            y: frame.place(y: Double.random(in: 0...1, using: &random) * spread))
        }
        var labels = ChartLabels(frame, points: points)
        let letters = (0..<count).map { LabReport.letter($0) }
        let places = zip(letters, points).map { labels.place($0, beside: [$1]) }
        let boxes = zip(letters, places).map { letter, place in
          (x: place.x...(place.x + 7 * Double(letter.count)), y: (place.y - 8)...place.y)
        }
        for (index, box) in boxes.enumerated() {
          #expect(box.x.lowerBound >= 0 && box.x.upperBound <= frame.width && box.y.lowerBound >= 0)
          #expect(!points.contains { box.x.contains($0.x) && box.y.contains($0.y) })
          #expect(
            !boxes[..<index].contains { $0.x.overlaps(box.x) && $0.y.overlaps(box.y) },
            "\(count) points within \(spread)")
        }
      }
    }
  }

  @Test func `it needs no other host and runs no script`() {
    #expect(Self.html.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
    #expect(Self.html.contains("default-src 'none'; style-src 'sha256-HASH'; base-uri 'none'"))
    let hosts = Self.html.matches(of: /https?:\/\/[^"< ]+/).map { String($0.output) }
    #expect(Set(hosts) == ["http://www.w3.org/2000/svg"])
    for word in ["<script", " style=", "javascript:", "<a <b>", "onload", "url("] {
      #expect(!Self.html.contains(word), "\(word)")
    }
    #expect(Self.html.contains("a &lt;b&gt; &amp; &quot;c&quot;"))
    // Its style is its own, to the byte: else its hash would not be the one of the policy.
    #expect(Self.html.contains("<style>\(LabReport.style)</style>"))
    // Every element is closed.
    for name in ["svg", "figure", "section", "table", "tr", "td", "li", "g", "text", "title"] {
      let opened = Self.html.matches(of: try! Regex("<\(name)[ >]")).count
      let closed = Self.html.matches(of: try! Regex("</\(name)>")).count
      #expect(opened == closed, "\(name)")
    }
  }

  @Test func `where clips have several bitrates, a chart holds stalls against quality`() throws {
    var experiment = Self.experiment
    experiment.feed = .generated(.challenge)
    experiment.networks = [LabNetwork.challenge(seed: 1)[1]]
    experiment.viewer = .retained
    (experiment.items, experiment.repeats) = (7, 2)
    let results = experiment.results()
    let report = LabReport(
      LabReport.Origin(feed: "", viewer: "", date: "", program: "", gigabyteCents: 500),
      experiment, results, prices: [3], grid: nil, told: 3, margin: 2)
    let html = report.html(styleHash: "")
    let title = "Stalls against quality"
    #expect(html.contains(title) && !Self.html.contains(title))
    for chart in ["Delay", "Stalled clips"] {
      #expect(html.contains("<title>\(chart) against bitrate on"))
    }
    for (index, name) in Self.names.enumerated() {
      let kilobits = fixed(results.interval(index, on: 0, .bitrateKilobitsPerSecond).mean, 0)
      let delay = fixed(results.interval(index, on: 0, .delayMilliseconds).mean, 1)
      #expect(
        Self.unescaped(html).contains("\(name): \(kilobits) kbit/s, \(delay) ms of delay an item"))
    }
  }

  @Test func `the same results are the same page`() {
    #expect(Self.report(Self.experiment.results()).html(styleHash: "HASH") == Self.html)
  }

  @Test func `the front has what nothing beats`() {
    func point(_ contestant: Int, _ kilobytes: Double, _ loaders: Double) -> LabReport.Point {
      LabReport.Point(
        contestant: contestant, kilobytes: kilobytes, loaders: loaders, delay: loaders)
    }
    let points = [
      point(0, 50, 30), point(1, 40, 40), point(2, 60, 30), point(3, 45, 45), point(4, 70, 2),
      point(5, 40, 50),
    ]
    #expect(LabReport.front(points).map(\.contestant) == [1, 0, 4])
    #expect(LabReport.front([]).isEmpty)
  }

  @Test(arguments: [0, 1e-9, 0.3, 1, 7, 24, 99.9, 1_000, 12_345, .infinity])
  func `an axis ends at a round number and has few ticks`(most: Double) {
    let axis = ChartAxis("x", upTo: most)
    #expect(axis.end >= (most.isFinite ? most : 0) || most < 1e-3)
    #expect((2...8).contains(axis.ticks.count), "\(axis.ticks)")
    #expect(Set(axis.ticks.map(axis.label)).count == axis.ticks.count || most < 1e-3)
  }

  @Test(arguments: [0, 3, 24, 99.9, 425, 1_000, 1e12, .infinity])
  func `an axis of roots holds what is small and what is large`(most: Double) {
    let axis = ChartAxis(rootOf: "x", upTo: most)
    #expect(axis.end >= min(most, 1e9) || most == .infinity)
    #expect(axis.ticks.first == 0 || axis.ticks[0] < axis.end / 50)
    #expect(axis.ticks.last == axis.end && (3...12).contains(axis.ticks.count), "\(axis.ticks)")
    #expect(axis.share(0) == 0 && axis.share(axis.end) == 1 && axis.share(axis.end / 4) == 0.5)
    #expect(axis.share(-1) == 0 && axis.share(axis.end * 2) == 1)
  }

  @Test func `whatever a name has, it is no markup`() {
    #expect(
      Markup.escaped("<a href=\"x\">&\u{0}\u{7}\u{9f}é\n")
        == "&lt;a href=&quot;x&quot;&gt;&amp;\u{fffd}\u{fffd}\u{fffd}é\n")
    #expect(
      LabReport.letter(0) == "A" && LabReport.letter(25) == "Z" && LabReport.letter(26) == "AA")
  }
}
