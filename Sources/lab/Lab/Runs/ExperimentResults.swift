import JSON
import Statistics

/// The results of an experiment: the same bytes for the same seed, on any number of threads.
package struct ExperimentResults: Hashable, Sendable {
  /// The contestants' names.
  package let contestants: [String]
  /// The networks' names.
  package let networks: [String]
  /// The number of runs of each contestant on each network.
  package let repeats: Int
  /// The number of items of each run.
  package let items: Int
  let runs: [RunValues]
  /// The bound that no policy beats, for each network's repeats.
  let bounds: [RunBound]
  /// Whether clips have several bitrates.
  let hasBitrates: Bool

  init(
    contestants: [String], networks: [String], repeats: Int, items: Int, runs: [RunValues],
    bounds: [RunBound], hasBitrates: Bool
  ) {
    self.hasBitrates = hasBitrates
    self.items = items
    self.contestants = contestants
    self.networks = networks
    self.repeats = repeats
    self.runs = runs
    self.bounds = bounds
  }

  /// The mean of the bound that no policy beats, over networks as for `interval`.
  package func bound(on network: Int?, _ measure: RunFigures.Measure) -> Double? {
    let places = network.map { $0 * repeats..<($0 + 1) * repeats } ?? bounds.indices
    let values = bounds[places].compactMap { $0[measure] }
    return values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
  }

  /// A contestant's values on a network, repeat by repeat.
  func values(_ contestant: Int, on network: Int, _ measure: RunFigures.Measure) -> [Double] {
    let first = (contestant * networks.count + network) * repeats
    return runs[first..<first + repeats].map { $0[measure] }
  }

  /// The mean of a measure with its 95 % interval. On one network each repeat counts as one value; over
  /// several, each network does, with the mean of its repeats.
  package func interval(
    _ contestant: Int, on network: Int?, _ measure: RunFigures.Measure
  ) -> SequentialInterval {
    var interval = SequentialInterval(
      leastDeviation: measure.leastDeviation(items: items))
    for cluster in clusters(contestant, on: network, measure) {
      interval.add(cluster.reduce(0, +) / Double(cluster.count))
    }
    return interval
  }

  /// The comparison of a contestant with the first one, run by run.
  ///
  /// - Parameter margin: the greatest difference that does not matter, in the measure's unit.
  package func comparison(
    _ contestant: Int, on network: Int?, _ measure: RunFigures.Measure = .loaders, margin: Double
  ) -> Comparison {
    var comparison = Comparison(
      margin: margin, leastDeviation: measure.leastDeviation(items: items))
    let pairs = zip(
      clusters(contestant, on: network, measure), clusters(0, on: network, measure))
    for (own, others) in pairs { comparison.addCluster(own, others) }
    return comparison
  }

  func clusters(
    _ contestant: Int, on network: Int?, _ measure: RunFigures.Measure
  ) -> [[Double]] {
    if let network { return values(contestant, on: network, measure).map { [$0] } }
    return networks.indices.map { values(contestant, on: $0, measure) }
  }
}

/// Results for people and programs.
extension ExperimentResults {
  /// The measures in tables, with those of quality if clips have several bitrates.
  var columns: [(title: String, measure: RunFigures.Measure, decimals: Int)] {
    Self.columns + (hasBitrates ? Self.qualityColumns : [])
  }

  private static let qualityColumns: [(title: String, measure: RunFigures.Measure, decimals: Int)] =
    [
      ("kbit/s", .bitrateKilobitsPerSecond, 0), ("switched", .switchedKilobitsPerSecond, 0),
      ("stalled clips", .stalledClips, 1), ("wasted MB", .wastedMegabytes, 2),
      ("challenge", .challengePoints, 1), ("Yin", .yinPoints, 1),
    ]
  private static let columns: [(title: String, measure: RunFigures.Measure, decimals: Int)] = [
    ("delay ms", .delayMilliseconds, 1), ("KB/item", .kilobytes, 1), ("images", .imageLoaders, 1),
    ("videos", .videoLoaders, 1), ("pages", .pageLoaders, 1), ("wait ms", .waitMilliseconds, 1),
    ("p95 ms", .waitP95Milliseconds, 0), ("standing ms", .standingMilliseconds, 1),
    ("frame ms", .frameMilliseconds, 1),
    ("stalls", .stalls, 1), ("stalled ms", .stalledMilliseconds, 1),
    ("wasted %", .wastedPercent, 1), ("requests", .requests, 0),
  ]

  /// The rows of a table: each network and, if there are several, all together.
  var places: [(name: String, network: Int?)] {
    let each = networks.enumerated().map { (name: $1, network: Int?.some($0)) }
    return networks.count > 1 ? each + [(name: "all", network: nil)] : each
  }

  /// A table for people: loaders per 1000 items with their 95 % intervals, the other measures, and the
  /// comparison of each contestant with the first.
  package func table(margin: Double) -> String { table(margin: margin, of: nil) }

  func table(margin: Double, of use: RunUse?) -> String {
    let first = use.map { "network (\($0.rawValue))" } ?? "network"
    var rows = [
      [first, "strategy", "loaders", "±", "over bound"] + columns.map(\.title)
        + ["vs first"]
    ]
    for place in places {
      for contestant in contestants.indices {
        let loaders = interval(contestant, on: place.network, .loaders)
        rows.append(
          [
            place.name, contestants[contestant], fixed(loaders.mean, 1),
            loaders.halfWidth.isFinite ? fixed(loaders.halfWidth, 1) : "?",
            fixed(loaders.mean - (bound(on: place.network, .loaders) ?? 0), 1),
          ]
            + columns.map {
              fixed(interval(contestant, on: place.network, $0.measure).mean, $0.decimals)
            }
            + [
              contestant == 0
                ? "" : comparison(contestant, on: place.network, margin: margin).verdict.rawValue
            ])
      }
      rows.append(
        [place.name, RunBound.name, boundText(place.network, .loaders, 1), "", ""]
          + columns.map { boundText(place.network, $0.measure, $0.decimals) } + [""])
    }
    return Self.aligned(rows, texts: [0, 1, rows[0].count - 1])
  }

  /// The bound that no policy beats; empty if it is not known.
  func boundText(_ network: Int?, _ measure: RunFigures.Measure, _ decimals: Int) -> String {
    bound(on: network, measure).map { fixed($0, decimals) } ?? ""
  }

  /// Aligns columns: texts to the left, numbers to the right.
  static func aligned(_ rows: [[String]], texts: Set<Int>) -> String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let space = String(repeating: " ", count: widths[column] - cell.count)
        line += (column > 0 ? "  " : "") + (texts.contains(column) ? cell + space : space + cell)
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }

  /// Every measure of every run, and the bound that no policy beats in it, as in RFC 4180, with a line of
  /// names first.
  package var csv: String { csv(of: nil) }

  /// - Parameter use: the use of the runs, for a column of its own; `nil` omits the column.
  func csv(of use: RunUse?, hasHead: Bool = true) -> String {
    let measures = RunFigures.Measure.allCases
    var text = ""
    if hasHead {
      text =
        ((use == nil ? [] : ["use"]) + ["network", "strategy", "repeat"] + measures.map(\.rawValue))
        .joined(separator: ",") + "\r\n"
    }
    for network in networks.indices {
      for contestant in contestants.indices {
        for number in 0..<repeats {
          let run = runs[(contestant * networks.count + network) * repeats + number]
          let cells =
            (use.map { [$0.rawValue] } ?? []) + [
              Self.quoted(networks[network]), Self.quoted(contestants[contestant]), String(number),
            ]
          text += (cells + measures.map { fixed(run[$0], 3) }).joined(separator: ",") + "\r\n"
        }
      }
      for number in 0..<repeats {
        let bound = bounds[network * repeats + number]
        let cells =
          (use.map { [$0.rawValue] } ?? [])
          + [Self.quoted(networks[network]), RunBound.name, String(number)]
        text +=
          (cells + measures.map { bound[$0].map { fixed($0, 3) } ?? "" }).joined(separator: ",")
          + "\r\n"
      }
    }
    return text
  }

  private static func quoted(_ text: String) -> String {
    guard text.utf8.contains(where: { [0x22, 0x2c, 0x0a, 0x0d].contains($0) }) else { return text }
    return "\""
      + text.split(separator: "\"", omittingEmptySubsequences: false)
      .joined(separator: "\"\"") + "\""
  }

  /// Means and intervals as JSON: a list of rows, one for each network and strategy, and one for the bound
  /// that no policy beats there.
  package func json(margin: Double) -> [UInt8] {
    var writer = JSONWriter(capacity: 4_096)
    writer.array { writer in
      for place in places {
        for contestant in contestants.indices {
          writer.object { writer in
            writer.member("network", place.name)
            writer.member("strategy", contestants[contestant])
            for measure in RunFigures.Measure.allCases {
              let interval = interval(contestant, on: place.network, measure)
              writer.key(text: measure.rawValue)
              writer.object { writer in
                writer.key("mean")
                writer.raw(fixed(interval.mean, 3).utf8)
                guard interval.halfWidth.isFinite else { return }
                writer.key("halfWidth")
                writer.raw(fixed(interval.halfWidth, 3).utf8)
              }
            }
            guard contestant > 0 else { return }
            writer.member(
              "verdict",
              comparison(contestant, on: place.network, margin: margin).verdict.rawValue)
          }
        }
        writer.object { writer in
          writer.member("network", place.name)
          writer.member("strategy", RunBound.name)
          for measure in RunFigures.Measure.allCases {
            guard let mean = bound(on: place.network, measure) else { continue }
            writer.key(text: measure.rawValue)
            writer.object { writer in
              writer.key("mean")
              writer.raw(fixed(mean, 3).utf8)
            }
          }
        }
      }
    }
    return writer.bytes
  }
}

/// Formats a number with this many decimals, rounded; the text is the same on every machine.
func fixed(_ number: Double, _ decimals: Int) -> String {
  var scale = 1
  for _ in 0..<decimals { scale *= 10 }
  let scaled = (number * Double(scale)).rounded()
  guard let whole = Int(exactly: scaled) else { return String(number) }
  let digits = String(whole.magnitude % UInt(scale) + UInt(scale)).dropFirst()
  return (whole < 0 ? "-" : "") + String(whole.magnitude / UInt(scale))
    + (decimals > 0 ? "." + digits : "")
}
