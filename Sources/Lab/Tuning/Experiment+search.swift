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
