import JSON

/// A better setting, found on some data and judged on other data.
package struct Tuning: Sendable {
  /// The objective.
  package let objective: Objective
  /// The settings' results, the current setting first: all of a grid, or those that remained in a search.
  package let tuned: ExperimentResults
  /// The index of the winner among these.
  package let winner: Int
  /// The index of the winner among the experiment's contestants.
  package let contestant: Int
  /// The results on the data for judging: of the current setting, of the winner if it is another one, and of
  /// other settings that none beat in both bytes and the objective's measure, by rising bytes.
  package let judged: ExperimentResults
  /// How the data for judging differ from those for tuning.
  package let heldBack: HeldBack
  /// The number of runs in which it was found.
  package let tuningRuns: Int

  /// Whether the winner is not the current setting.
  package var isOther: Bool { winner != 0 }

  /// The result in a sentence.
  package func sentence(margin: Double) -> String {
    let current = judged.contestants[0]
    guard isOther else {
      return "\(current) stays: nothing better was found in \(tuningRuns) runs (\(words(0)))"
    }
    let network = judged.networks.count == 1 ? 0 : nil
    let verdict = judged.comparison(1, on: network, objective.measure, margin: margin).verdict
    return "\(judged.contestants[1]): \(words(1)), compared with \(current): \(words(0)); "
      + "\(verdict.rawValue), \(heldBack.words), found in \(tuningRuns) runs"
  }

  private func words(_ place: Int) -> String {
    "\(fixed(judged.mean(place, .loaders), 1)) loaders per 1000, "
      + "\(fixed(judged.mean(place, .delayMilliseconds), 1)) ms of delay and "
      + "\(fixed(judged.mean(place, .kilobytes), 1)) KB an item"
  }

  /// The judged settings for which no other has less of the objective's measure for the same or fewer bytes,
  /// by rising bytes.
  package var frontier: [Int] {
    judged.front(objective.measure, of: Array(judged.contestants.indices))
  }

  /// The settings of the frontier, a line each, with the current and the chosen one marked: the objective
  /// made this choice for the person.
  package var choices: [String] {
    let current = (
      measure: judged.mean(0, objective.measure), kilobytes: judged.mean(0, .kilobytes)
    )
    func change(_ value: Double, _ from: Double) -> String {
      let percent = from > 0 ? (value - from) * 100 / from : 0
      return (percent < 0 ? "" : "+") + fixed(percent, 1) + " %"
    }
    return frontier.map { place in
      let measure = judged.mean(place, objective.measure)
      let mark = place == 0 ? ", the current setting" : isOther && place == 1 ? ", chosen" : ""
      return "\(judged.contestants[place])\(mark): \(words(place)) "
        + "(bytes \(change(judged.mean(place, .kilobytes), current.kilobytes)), "
        + "\(objective.measureWords) \(change(measure, current.measure)))"
    }
  }
}

/// The part of the data for judging on which a setting was not tuned.
package struct HeldBack: Hashable, Sendable {
  /// The feeds for judging.
  package enum Feed: String, Sendable {
    /// Other generated feeds.
    case other = "other feeds"
    /// The recorded feed, starting at other items.
    case otherPlaces = "other places of the same feed"
    /// The same feed from the same item.
    case same = "the same feed"
  }

  /// The names of networks for judging alone.
  package let networks: [String]
  /// The names of networks for tuning, too. If they are recorded, judging has other moments of them.
  package let sharedNetworks: [String]
  /// The feeds.
  package let feed: Feed
  /// Whether the viewers are others, because they draw what they do.
  package let hasOtherViewers: Bool

  /// For example `judged on 3g that it was also tuned on, with other feeds and the same viewers`.
  package var words: String {
    func named(_ names: [String]) -> String {
      names.count == 1 ? names[0] : "\(names.count) networks"
    }
    var places: [String] = []
    if !networks.isEmpty { places.append("\(named(networks)) that it was not tuned on") }
    if !sharedNetworks.isEmpty {
      places.append("\(named(sharedNetworks)) that it was also tuned on")
    }
    return "judged on \(places.joined(separator: " and on ")), with \(feed.rawValue) and "
      + (hasOtherViewers ? "other viewers" : "the same viewers")
  }
}

extension ExperimentResults {
  /// The mean of a measure over all networks and repeats.
  package func mean(_ contestant: Int, _ measure: RunFigures.Measure) -> Double {
    interval(contestant, on: networks.count == 1 ? 0 : nil, measure).mean
  }

  /// The contestants among `places` for which no other has less of a measure for the same or fewer bytes, by
  /// rising bytes.
  func front(_ measure: RunFigures.Measure, of places: [Int]) -> [Int] {
    let points = places.map { (mean($0, .kilobytes), mean($0, measure), $0) }
    var front: [Int] = []
    var least = Double.infinity
    for (_, value, place) in points.sorted(by: <) where value < least {
      front.append(place)
      least = value
    }
    return front
  }
}

extension Experiment {
  /// The experiments for tuning and for judging, and what is held back for judging. If there are at least two
  /// recorded networks, these alternate; a profile is in both, unless there are networks for judging alone.
  /// Judging has repeats of its own.
  package var halves: (tuning: Experiment, judging: Experiment, heldBack: HeldBack) {
    var (tuning, judging) = (self, self)
    let recorded = networks.indices.filter { networks[$0].isRecorded }
    var kept: Set<Int> = []
    if let judgingNetworks {
      judging.networks = judgingNetworks
    } else if recorded.count > 1 {
      kept = Set(recorded.enumerated().filter { $0.offset % 2 == 1 }.map(\.element))
      tuning.networks = networks.indices.filter { !kept.contains($0) }.map { networks[$0] }
      judging.networks = networks.indices
        .filter { kept.contains($0) || !networks[$0].isRecorded }.map { networks[$0] }
    }
    // Beyond all repeats used for tuning.
    judging.firstRepeat = firstRepeat + Self.judgingRepeat
    let shared =
      judgingNetworks == nil
      ? networks.indices.filter {
        !kept.contains($0) && (kept.isEmpty || !networks[$0].isRecorded)
      } : []
    let scrolled: HeldBack.Feed =
      switch feed {
      case .generated: .other
      case .recorded(let feed, let turns): turns && feed.items.count > 1 ? .otherPlaces : .same
      }
    let heldBack = HeldBack(
      networks: judgingNetworks?.map(\.name) ?? kept.sorted().map { networks[$0].name },
      sharedNetworks: shared.map { networks[$0].name }, feed: scrolled,
      hasOtherViewers: viewer.isDrawn)
    return (tuning, judging, heldBack)
  }

  private static let judgingRepeat = 1_000_000

  /// Finds the best of the contestants on half of the networks, and judges it on the other half. The first
  /// contestant is the current setting.
  ///
  /// - Parameters:
  ///   - searches: whether to use `search`, with fewer runs, instead of running all.
  ///   - judgesChoices: whether to judge other settings of the frontier, too.
  ///   - progress: called with the number of completed runs, and their maximum.
  package func tune(
    _ objective: Objective, searches: Bool, judgesChoices: Bool = true, _ perform: Performer,
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) -> Tuning {
    let (tuning, judging, heldBack) = halves
    let mostChoices = judgesChoices ? Self.mostChoices : 0
    let judgingRuns = (2 + mostChoices) * judging.networks.count * repeats
    let most = tuning.runCount + judgingRuns
    var (kept, tuned, runs): ([Int], ExperimentResults, Int)
    if searches {
      (kept, tuned, runs) = tuning.search(objective, perform) { progress($0, most) }
    } else {
      tuned = tuning.results(perform) { progress($0, most) }
      (kept, runs) = (Array(contestants.indices), tuning.runCount)
    }
    let winner = tuned.best(objective)
    let front = tuned.front(objective.measure, of: Array(tuned.contestants.indices))
    let choices = front.filter { $0 != 0 && $0 != winner }.spread(mostChoices)
    var final = judging
    final.contestants = ((winner == 0 ? [0] : [0, winner]) + choices).map { contestants[kept[$0]] }
    let before = runs
    let all = before + final.runCount
    let judged = final.results(perform) { progress(before + $0, all) }
    return Tuning(
      objective: objective, tuned: tuned, winner: winner, contestant: kept[winner],
      judged: judged, heldBack: heldBack, tuningRuns: runs)
  }

  /// The maximum number of other settings of the frontier to judge besides the winner.
  private static let mostChoices = 8
}

extension [Int] {
  /// At most this number of elements, evenly spread, including the first and the last.
  fileprivate func spread(_ most: Int) -> [Int] {
    guard count > most else { return self }
    guard most > 1 else { return [] }
    return (0..<most).map { self[$0 * (count - 1) / (most - 1)] }
  }
}

extension ExperimentResults {
  /// The contestant with the best score; the first of equal ones.
  func best(_ objective: Objective) -> Int { ranked(objective)[0] }

  /// The contestants from the best to the worst; equal ones in their order.
  func ranked(_ objective: Objective) -> [Int] {
    let current = mean(0, .kilobytes)
    let scores = contestants.indices.map { contestant in
      objective.score(
        mean(contestant, objective.measure), kilobytes: mean(contestant, .kilobytes),
        currentKilobytes: current)
    }
    return contestants.indices.sorted { (scores[$0], $0) < (scores[$1], $1) }
  }
}

/// A tuning for people and programs.
extension Tuning {
  /// Two tables, and the result between them.
  package func table(margin: Double) -> String {
    tuned.table(margin: margin, of: .tuning) + "\n" + objective.words + "\n"
      + sentence(margin: margin) + "\n"
      + (frontier.count > 1
        ? "settings that no other beats in both, by rising bytes:\n"
          + choices.map { "  " + $0 + "\n" }.joined() : "")
      + "\n" + judged.table(margin: margin, of: .judging)
  }

  /// Every measure of every run as CSV; the first column says whether the run was for tuning or for judging.
  package var csv: String {
    tuned.csv(of: .tuning) + judged.csv(of: .judging, hasHead: false)
  }

  /// The result with its evidence, and the means of all settings, as JSON.
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

/// The use of runs.
enum RunUse: String {
  case tuning, judging
}

extension Experiment {
  /// Successive halving over common random numbers: all settings run once, the best third of them twice more,
  /// the best third of these four times more, and so on until the remaining ones have had all repeats.
  /// Compared settings have seen the same viewers, so that a few runs distinguish settings that are far apart
  /// (Jamieson, Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", 2016).
  ///
  /// - Returns: the indices of the remaining contestants, including the first (the current setting), the
  ///   results of all their repeats, and the number of runs.
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
      // The last ones run all remaining repeats.
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

  /// The number of settings that have all repeats, besides the current one.
  private static let leastKept = 3
}

/// What makes one setting better than another: the measure to minimise, and the limit or price of bytes.
package struct Objective: Hashable, Sendable {
  /// The limit or the price of bytes.
  package enum Bytes: Hashable, Sendable {
    /// At most this multiple of the current setting's.
    case current(times: Double = 1)
    /// At most this many kilobytes (1000 bytes) an item.
    case kilobytes(Double)
    /// A price: this much of the measure for each megabyte an item.
    case priced(perMegabyte: Double)
  }

  /// The measure to minimise, such as delay or loaders.
  package let measure: RunFigures.Measure
  /// The limit or the price of bytes.
  package let bytes: Bytes

  /// Creates an objective.
  package init(_ measure: RunFigures.Measure = .delayMilliseconds, _ bytes: Bytes = .current()) {
    self.measure = measure
    self.bytes = bytes
  }

  /// The score of a setting; less is better. Of two settings beyond the limit, the one with fewer bytes is
  /// better.
  func score(_ value: Double, kilobytes: Double, currentKilobytes: Double) -> Double {
    switch bytes {
    case .current(let times): Self.limited(value, kilobytes, limit: currentKilobytes * times)
    case .kilobytes(let limit): Self.limited(value, kilobytes, limit: limit)
    case .priced(let price): value + price * kilobytes / 1_000
    }
  }

  private static func limited(_ value: Double, _ kilobytes: Double, limit: Double) -> Double {
    kilobytes <= limit ? value : tooMuch + kilobytes
  }

  /// More than the value of any measure.
  private static let tooMuch = 1e9

  /// The measure, in words.
  var measureWords: String { measure.words }

  /// The objective, in words.
  package var words: String {
    switch bytes {
    case .current(times: 1): "least \(measureWords) with no more bytes than the current setting"
    case .current(let times):
      "least \(measureWords) with no more than \(fixed(times, 1)) times the bytes of the current setting"
    case .kilobytes(let limit): "least \(measureWords) within \(fixed(limit, 1)) KB an item"
    case .priced(let price):
      "least sum of \(measureWords) and \(fixed(price, 1)) for each megabyte an item"
    }
  }
}

extension RunFigures.Measure {
  /// The name with its unit, for the measures that decide: `loaders per 1000`, `ms of delay an item`.
  var words: String {
    switch self {
    case .loaders: "loaders per 1000"
    case .delayMilliseconds: "ms of delay an item"
    case .stalledClips: "stalled clips per 1000"
    default: rawValue
    }
  }
}
