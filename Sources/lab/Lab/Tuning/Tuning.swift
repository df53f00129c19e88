import JSON

/// A better setting, found on some networks and judged on others.
package struct Tuning: Sendable {
  /// What was asked for.
  package let objective: Objective
  /// The settings, the current one first: all of a grid, or those that a search was left with.
  package let tuned: ExperimentResults
  /// Which of them won.
  package let winner: Int
  /// Which of the experiment's contestants that is.
  package let contestant: Int
  /// The current setting and the winner, where nobody tuned: on recorded networks that were kept back, on
  /// profiles with other viewers and other feeds. The current one alone where it won.
  package let judged: ExperimentResults
  /// How many runs it took to find it.
  package let tuningRuns: Int

  /// What was found, in a sentence.
  package func sentence(margin: Double) -> String {
    let (current, name) = (judged.contestants[0], tuned.contestants[winner])
    func words(_ place: Int) -> String {
      "\(fixed(judged.mean(place, .loaders), 1)) loaders per 1000 and "
        + "\(fixed(judged.mean(place, .kilobytes), 1)) KB an item"
    }
    guard judged.contestants.count > 1 else {
      return "\(current) stays: nothing better was found in \(tuningRuns) runs (\(words(0)))"
    }
    let network = judged.networks.count == 1 ? 0 : nil
    let verdict = judged.comparison(1, on: network, margin: margin).verdict
    return "\(name): \(words(1)), beside \(current): \(words(0)); \(verdict.rawValue), judged on "
      + "\(judged.networks.count == 1 ? judged.networks[0] : "\(judged.networks.count) networks")"
      + " that it was not tuned on, found in \(tuningRuns) runs"
  }
}

extension ExperimentResults {
  /// The mean of a measure over all networks and repeats.
  package func mean(_ contestant: Int, _ measure: RunFigures.Measure) -> Double {
    interval(contestant, on: networks.count == 1 ? 0 : nil, measure).mean
  }
}

extension Experiment {
  /// The networks to tune on, and those to judge on: recorded ones alternate, where there are two at least;
  /// a profile is in both, and is judged with repeats of its own.
  package var halves: (tuning: Experiment, judging: Experiment) {
    var (tuning, judging) = (self, self)
    let recorded = networks.indices.filter { networks[$0].isRecorded }
    if recorded.count > 1 {
      let kept = Set(recorded.enumerated().filter { $0.offset % 2 == 1 }.map(\.element))
      tuning.networks = networks.indices.filter { !kept.contains($0) }.map { networks[$0] }
      judging.networks = networks.indices
        .filter { kept.contains($0) || !networks[$0].isRecorded }.map { networks[$0] }
    }
    // Beyond all repeats that anybody tunes with.
    judging.firstRepeat = firstRepeat + Self.judgingRepeat
    return (tuning, judging)
  }

  private static let judgingRepeat = 1_000_000

  /// The best of the contestants on half of the networks, and how it does on the other half. The first
  /// contestant is the current setting.
  ///
  /// - Parameters:
  ///   - searches: by `search`, with fewer runs, instead of all of them.
  ///   - progress: is told how many runs are done, and of how many at the most.
  package func tune(
    _ objective: Objective, searches: Bool, _ perform: Performer,
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) -> Tuning {
    let (tuning, judging) = halves
    let judgingRuns = 2 * judging.networks.count * repeats
    let most = tuning.runCount + judgingRuns
    var (kept, tuned, runs): ([Int], ExperimentResults, Int)
    if searches {
      (kept, tuned, runs) = tuning.search(objective, perform) { progress($0, most) }
    } else {
      tuned = tuning.results(perform) { progress($0, most) }
      (kept, runs) = (Array(contestants.indices), tuning.runCount)
    }
    let winner = tuned.best(objective)
    var final = judging
    final.contestants = Set([0, kept[winner]]).sorted().map { contestants[$0] }
    let before = runs
    let judged = final.results(perform) { progress(before + $0, before + judgingRuns) }
    return Tuning(
      objective: objective, tuned: tuned, winner: winner, contestant: kept[winner],
      judged: judged, tuningRuns: runs)
  }
}

extension ExperimentResults {
  /// The contestant with the best score; of equals the first.
  func best(_ objective: Objective) -> Int { ranked(objective)[0] }

  /// The contestants from the best to the worst; equals in their order.
  func ranked(_ objective: Objective) -> [Int] {
    let current = mean(0, .kilobytes)
    let scores = contestants.indices.map { contestant in
      objective.score(
        loaders: mean(contestant, .loaders), kilobytes: mean(contestant, .kilobytes),
        currentKilobytes: current)
    }
    return contestants.indices.sorted { (scores[$0], $0) < (scores[$1], $1) }
  }
}

/// A tuning as people and programs read it.
extension Tuning {
  /// Two tables, and between them what was found.
  package func table(margin: Double) -> String {
    tuned.table(margin: margin, of: .tuning) + "\n" + objective.words + "\n"
      + sentence(margin: margin) + "\n\n" + judged.table(margin: margin, of: .judging)
  }

  /// Every measure of every run; the first column says whether it was for tuning or for judging.
  package var csv: String {
    tuned.csv(of: .tuning) + judged.csv(of: .judging, hasHead: false)
  }

  /// What was found and on what it rests, and the means of all settings.
  package func json(_ evidence: TuningEvidence, margin: Double) -> [UInt8] {
    var writer = JSONWriter(capacity: 8_192)
    writer.object { writer in
      writer.key("evidence")
      writer.raw(evidence.json)
      writer.key("tuning")
      writer.raw(tuned.json(margin: margin))
      writer.key("judging")
      writer.raw(judged.json(margin: margin))
    }
    return writer.bytes
  }
}

/// What runs were for.
enum RunUse: String {
  case tuning, judging
}

extension Experiment {
  /// Successive halving over common random numbers: all settings are run once, the best third of them twice more,
  /// of these the best third four times more, and so on until those that are left have had all repeats. What is
  /// compared has seen the same viewers, so that a few runs tell far settings apart (Jamieson, Talwalkar,
  /// "Non-stochastic best arm identification and hyperparameter optimization", 2016).
  ///
  /// - Returns: which contestants are left, the first (the current setting) among them, and what all of
  ///   their repeats measured; and how many runs it took.
  func search(
    _ objective: Objective, _ perform: Performer,
    progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) -> (kept: [Int], results: ExperimentResults, runs: Int) {
    var kept = Array(contestants.indices)
    var results: ExperimentResults?
    var (done, more, runs) = (0, 1, 0)
    while done < repeats {
      if let last = results, kept.count > Self.leastKept {
        let best = last.ranked(objective).prefix(max(Self.leastKept, (kept.count + 2) / 3))
        let places = Set(best).union([0]).sorted()
        results = last.only(places)
        kept = places.map { kept[$0] }
      }
      // The last ones have all that is left.
      if kept.count <= Self.leastKept + 1 { more = repeats - done }
      var part = self
      part.contestants = kept.map { contestants[$0] }
      part.firstRepeat = firstRepeat + done
      part.repeats = min(more, repeats - done)
      let before = runs
      let measured = part.results(perform) { progress(before + $0) }
      results = results?.followed(by: measured) ?? measured
      runs += part.runCount
      done += part.repeats
      more *= 2
    }
    return (kept, results!, runs)
  }

  /// So many settings have all repeats, beside the current one.
  private static let leastKept = 3
}

/// What makes one setting better than another: what is to be little.
package enum Objective: Hashable, Sendable {
  /// Loaders per 1000, of the settings that take no more bytes than the current one.
  case withinCurrentBytes
  /// Loaders per 1000, of the settings that take no more than so many kilobytes (1000 bytes) an item.
  case within(kilobytes: Double)
  /// A sum: loaders per 1000, and so many more for each megabyte an item.
  case weighted(loadersPerMegabyte: Double)

  /// How good a setting is, and less is better: of two that take too much, the one that takes less.
  func score(loaders: Double, kilobytes: Double, currentKilobytes: Double) -> Double {
    switch self {
    case .withinCurrentBytes: Self.limited(loaders, kilobytes, limit: currentKilobytes)
    case .within(let limit): Self.limited(loaders, kilobytes, limit: limit)
    case .weighted(let price): loaders + price * kilobytes / 1_000
    }
  }

  private static func limited(_ loaders: Double, _ kilobytes: Double, limit: Double) -> Double {
    kilobytes <= limit ? loaders : tooMuch + kilobytes
  }

  /// More loaders than there can be.
  private static let tooMuch = 1e6

  /// What it asks for, in words.
  package var words: String {
    switch self {
    case .withinCurrentBytes: "fewest loaders per 1000 with no more bytes than the current setting"
    case .within(let limit): "fewest loaders per 1000 within \(fixed(limit, 1)) KB an item"
    case .weighted(let price):
      "least sum of loaders per 1000 and \(fixed(price, 1)) for each megabyte an item"
    }
  }
}
