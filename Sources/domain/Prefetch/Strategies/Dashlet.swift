/// Dashlet (Li, Xie, Netravali and Jamieson, NSDI 2023, and `abrAlgorithmCollection_dashlet.py` of their
/// program): the watch time of each clip is a distribution, from which follows when each part of the next
/// clips plays. The strategy loads one part at a time: the first missing part of the clip for which the most
/// rebuffering is expected within a horizon, so that parts may come out of order.
struct DashletStrategy: PrefetchStrategy {
  static let name = "dashlet"
  static let parameterList = [
    Parameter("leading", 0...32, \.leading),
    Parameter("partMilliseconds", 1_000...60_000, \.partMilliseconds),
    Parameter("horizonSeconds", 1...120, \.horizonSeconds),
  ]

  var leading = 4
  var partMilliseconds = 5_000
  var horizonSeconds = 25

  /// The expected seconds of rebuffering above which a part is a candidate: the authors' lowest bitrate (1143
  /// kbit) divided by their weight of a second (700 000).
  private static let leastSeconds = 1_143.0 / 700_000
  /// The expected seconds of rebuffering below which nothing is loaded.
  private static let noSeconds = 0.00001
  /// The time within which a part may play to get half of the bandwidth.
  private static let dangerSeconds = 5
  /// The minimum horizon over which parts are compared.
  private static let leastHorizonSeconds = 10

  /// The part to load next.
  private struct Pick {
    let position: Int
    /// The end of the part in its clip; `nil` for all of an item without parts.
    let end: Int?
    let candidates: Int
    let isInDanger: Bool
  }

  func chooseVariants(_ facts: EngineFacts, active: Int) -> VariantLevel? {
    guard let pick = pick(facts, active) else { return nil }
    let position = facts.list[active].isReady ? pick.position : active
    guard let rates = facts.variantKbps(position) else { return nil }
    // The candidates share what arrives within the horizon.
    var target =
      facts.network.downlinkKbps * horizonSeconds * 1_000 / partMilliseconds / pick.candidates
    if pick.isInDanger { target /= 2 }
    return VariantLevel(
      level: rates.firstIndex { $0 < target } ?? rates.count - 1, positions: [position])
  }

  func wants(_ facts: EngineFacts, active: Int, _ wake: inout Wake) -> [Want] {
    guard facts.list[active].isReady || facts.start(of: active, facts.costs).isThere else {
      return [
        Want(position: active, amount: .start, reason: .activeStart(missingBytes: 0))
      ]
    }
    if let running = facts.running(facts.next(leading, from: active, with: true)) {
      return [running]
    }
    // As the clip plays on, more rebuffering is expected.
    wake.at(facts.now + 1_000, .due)
    guard let pick = pick(facts, active) else { return [] }
    let distance = pick.position - active
    return [
      Want(
        position: pick.position, amount: pick.end.map { .bytes(media: 0, 0..<$0) } ?? .entire,
        reason: .near(distance: distance, bytes: pick.end ?? 0))
    ]
  }

  /// The first missing part of a clip, and when it plays.
  private struct Candidate {
    let position: Int
    let end: Int?
    let playsAt: [Double]
  }

  private func pick(_ facts: EngineFacts, _ active: Int) -> Pick? {
    // When the turn of the current clip comes: the chance of each second from now on.
    var turn = [Double](repeating: 0, count: horizonSeconds)
    turn[0] = 1
    var (candidates, count) = ([Candidate](), 0)
    for position in facts.next(leading, from: active, with: true) {
      let elapsed = position == active ? facts.now - facts.viewer.activeSince : 0
      if let clip = facts.clip(position) {
        let played = position == active ? facts.playedMilliseconds : 0
        let (held, all) = facts.parts(of: clip, each: partMilliseconds)
        for part in held..<max(held, all) {
          let playsAt = shifted(
            turn, by: max(0, part * partMilliseconds - played) / 1_000,
            share(facts, position, max(part * partMilliseconds, elapsed), after: elapsed))
          if part == held {
            if position == active, facts.isStarved(clip) {
              return Pick(
                position: active,
                end: facts.end(ofPart: part, of: clip, each: partMilliseconds), candidates: 1,
                isInDanger: true)
            }
            candidates.append(
              Candidate(
                position: position,
                end: facts.end(ofPart: part, of: clip, each: partMilliseconds), playsAt: playsAt))
          }
          guard Self.rebuffering(playsAt, horizonSeconds) > Self.leastSeconds else { break }
          count += 1
        }
      } else if !facts.isWhole(
        position, media: position == active ? .max : facts.visibleMedia(position))
      {
        candidates.append(Candidate(position: position, end: nil, playsAt: turn))
        if Self.rebuffering(turn, horizonSeconds) > Self.leastSeconds { count += 1 }
      }
      turn = followed(turn, by: position, facts, after: elapsed)
    }
    guard count > 0 else { return nil }
    let horizon = max(horizonSeconds * 2 / count + 1, Self.leastHorizonSeconds)
    var best: (candidate: Candidate, seconds: Double)?
    for candidate in candidates {
      let seconds = Self.rebuffering(candidate.playsAt, horizon)
      if seconds > best?.seconds ?? 0 { best = (candidate, seconds) }
    }
    guard let best, best.seconds >= Self.noSeconds else { return nil }
    return Pick(
      position: best.candidate.position, end: best.candidate.end, candidates: count,
      isInDanger: Self.rebuffering(best.candidate.playsAt, Self.dangerSeconds) > Self.leastSeconds)
  }

  /// The seconds of rebuffering that are expected within a horizon if a part that plays then does not arrive.
  private static func rebuffering(_ playsAt: [Double], _ horizon: Int) -> Double {
    playsAt.prefix(horizon).enumerated().reduce(0) {
      $0 + Double(horizon - $1.offset) * $1.element
    }
  }

  /// Of the people who still watch after `elapsed` milliseconds, the share that watches at this time.
  private func share(
    _ facts: EngineFacts, _ position: Int, _ time: Int, after elapsed: Int
  ) -> Double {
    let all = facts.permilleWatching(position, atMilliseconds: elapsed)
    guard all > 0 else { return time > elapsed ? 0 : 1 }
    return Double(facts.permilleWatching(position, atMilliseconds: time)) / Double(all)
  }

  private func shifted(_ turn: [Double], by seconds: Int, _ share: Double) -> [Double] {
    turn.indices.map { $0 < seconds ? 0 : turn[$0 - seconds] * share }
  }

  /// When the turn of the item behind this one comes.
  private func followed(
    _ turn: [Double], by position: Int, _ facts: EngineFacts, after elapsed: Int
  ) -> [Double] {
    let shares = (0...horizonSeconds).map {
      share(facts, position, elapsed + $0 * 1_000, after: elapsed)
    }
    var next = [Double](repeating: 0, count: horizonSeconds)
    for leaves in 0..<horizonSeconds where shares[leaves] > shares[leaves + 1] {
      let chance = shares[leaves] - shares[leaves + 1]
      for second in leaves..<horizonSeconds { next[second] += turn[second - leaves] * chance }
    }
    return next
  }
}
