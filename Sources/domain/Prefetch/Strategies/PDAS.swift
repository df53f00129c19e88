/// PDAS, which won the short-video challenge of ACM MM 2022 (Kuaishou), as its authors describe it: each clip
/// has a maximum buffer, from how likely each second is watched, the order in which clips play, and the
/// bandwidth; nothing is loaded beyond it. The bitrate is the one with the most of the challenge's points, as
/// far as people watch.
///
/// The authors' formulas are not known here: this strategy applies the challenge's weights, second by second.
struct PDASStrategy: PrefetchStrategy {
  static let name = "pdas"
  static let parameterList = [
    Parameter("leading", 0...32, \.leading),
    Parameter("safeMilliseconds", 0...600_000, \.safeMilliseconds),
    Parameter("megabitMilliseconds", 0...60_000, \.megabitMilliseconds),
  ]

  var leading = 4
  /// The playback time of the playing clip that is loaded before any of the next ones, as far as it is
  /// watched.
  var safeMilliseconds = 4_000
  /// The duration of a stall that is as bad as an unwatched megabit: 0.5 and 1.85 points a second of the
  /// challenge.
  var megabitMilliseconds = 270

  private static let partMilliseconds = 1_000
  /// The maximum number of parts of a buffer.
  private static let partLimit = 120

  func chooseVariants(_ facts: EngineFacts, active: Int) -> VariantLevel? {
    let isStarting = !facts.list[active].isReady
    guard let position = isStarting ? active : pick(facts, active)?.position,
      let rates = facts.variantKbps(position)
    else { return nil }
    let level = rates.indices.max {
      points(rates[$0], position, facts, active) < points(rates[$1], position, facts, active)
    }
    return level.map { VariantLevel(level: $0, positions: [position]) }
  }

  /// The challenge's points for a clip at this bitrate: what is watched, less stalls, the change from the
  /// clip before, and what is loaded.
  private func points(
    _ kbps: Int, _ position: Int, _ facts: EngineFacts, _ active: Int
  ) -> Double {
    let (rate, link) = (Double(kbps) / 1_000, Double(facts.network.downlinkKbps) / 1_000)
    var (watched, loaded) = (0.0, 0.0)
    for part in 0..<Self.partLimit {
      let time = part * Self.partMilliseconds
      guard time < facts.clip(position)?.milliseconds ?? 0,
        isWorth(time, of: position, facts, active, part == 0)
      else { break }
      watched += Double(facts.permilleWatching(position, atMilliseconds: time)) / 1_000
      loaded += 1
    }
    // Each part takes a round trip besides its bits.
    let took = loaded * (rate / link + Double(facts.network.roundTripMilliseconds) / 1_000)
    let stalled = max(0, took - watched)
    let before = position - facts.viewer.direction
    var change = 0.0
    if facts.list.positions.contains(before), let rates = facts.variantKbps(before) {
      change = abs(rate - Double(rates[facts.list[before].media[0].variant]) / 1_000)
    }
    return rate * watched - 1.85 * stalled - change - 0.5 * rate * loaded
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
    // As the clip plays on, its buffer has room again.
    wake.at(facts.now + Self.partMilliseconds / 2, .due)
    guard let (position, end) = pick(facts, active) else { return [] }
    return [
      Want(
        position: position, amount: end.map { .bytes(media: 0, 0..<$0) } ?? .entire,
        reason: .near(distance: position - active, bytes: end ?? 0))
    ]
  }

  /// The next part to load, as its end in its clip: of the playing clip as far as is safe, then of the next
  /// ones in order, then the rest of the playing clip, each up to its maximum buffer.
  private func pick(_ facts: EngineFacts, _ active: Int) -> (position: Int, end: Int?)? {
    if let end = missing(active, facts, active, within: safeMilliseconds) { return (active, end) }
    for position in facts.next(leading, from: active) {
      if let end = missing(position, facts, active, within: .max) { return (position, end) }
    }
    return missing(active, facts, active, within: .max).map { (active, $0) }
  }

  /// The end of the next part of an item, if it lacks one within its maximum buffer; the inner `nil` is for
  /// all of an item without parts.
  private func missing(
    _ position: Int, _ facts: EngineFacts, _ active: Int, within milliseconds: Int
  ) -> Int?? {
    guard let clip = facts.clip(position) else {
      let count = position == active ? Int.max : facts.visibleMedia(position)
      return facts.isWhole(position, media: count) ? nil : .some(nil)
    }
    let (held, all) = facts.parts(of: clip, each: Self.partMilliseconds)
    let time = held * Self.partMilliseconds
    let played = position == active ? facts.playedMilliseconds : 0
    guard held < all,
      position == active && facts.isStarved(clip)
        || time - played < milliseconds && isWorth(time, of: position, facts, active, held == 0)
    else { return nil }
    return .some(facts.end(ofPart: held, of: clip, each: Self.partMilliseconds))
  }

  /// Whether the stall that a megabit at this time of the clip may prevent weighs no less than the megabit's
  /// possible waste, times the clip's distance: later clips have time left.
  private func isWorth(
    _ time: Int, of position: Int, _ facts: EngineFacts, _ active: Int, _ isFirst: Bool
  ) -> Bool {
    let elapsed = position == active ? facts.now - facts.viewer.activeSince : 0
    let all = facts.permilleWatching(position, atMilliseconds: elapsed)
    let share =
      isFirst || all == 0
      ? 1_000
      : facts.permilleWatching(position, atMilliseconds: max(time, elapsed)) * 1_000 / all
    let order = max(1, abs(position - active))
    // A megabit takes 1 000 000 / kbit/s milliseconds.
    return share * 1_000_000
      >= (1_000 - share) * megabitMilliseconds * order * facts.network.downlinkKbps
  }
}
