/// The rule of thumb for clips that come one piece at a time: which pieces may be next, and which one is if
/// nothing is known of the link.
///
/// People mind that a clip stalls more than for how long: a clip that was waited for or has stalled is
/// spoilt, and the link's time is better spent on those to come. So the playing clip has a buffer that
/// outlasts a piece of its own behind a piece of another, until it stalls for the first time; from then on,
/// one that hardly outlasts its own.
struct PieceRule {
  /// The duration of a piece, except of a clip in chunks.
  static let pieceMilliseconds = 1_000
  /// The number of seconds to load of each of the next clips, nearest first: one of each, then a second of
  /// each, and so on.
  static let ahead = [4, 4]
  /// The part of the playing clip's buffer beyond what a player wants, in percent of the time that its next
  /// piece takes: before its first stall, and from then on.
  private static let pieceTimes = (untouched: 140, spoilt: 50)
  /// The minimum buffer before the first stall: a fast link, too, has its dips.
  private static let leastMilliseconds = 2_000

  /// The buffer of the playing clip below which its next piece is due.
  func bufferMilliseconds(pieceTakes took: Int, hasStood: Bool) -> Int {
    let buffer = EngineFacts.playerBufferMilliseconds
    guard !hasStood else { return buffer + took * Self.pieceTimes.spoilt / 100 }
    return max(buffer + took * Self.pieceTimes.untouched / 100, Self.leastMilliseconds)
  }

  /// The next clip, counted from 1, to which the next piece belongs, if none of the playing clip is due.
  ///
  /// - Parameter lacks: whether that clip has less than this, and another piece.
  func next(_ lacks: (_ clip: Int, _ milliseconds: Int) -> Bool) -> Int? {
    for count in 1...(Self.ahead.max() ?? 1) {
      for (index, most) in Self.ahead.enumerated()
      where count <= most && lacks(index + 1, count * 1_000) {
        return index + 1
      }
    }
    return nil
  }
}

/// The wants of `expected-wait` for clips that come one piece at a time.
///
/// If a client runs one transfer at a time, or a link carries little more than one clip, no request overtakes
/// a running transfer. So clips come in pieces of a second, and the strategy decides after each one. Three
/// things compete for the next: the playing clip, which stalls when its buffer runs out; the starts of the
/// next clips, which are waited for if the person goes on; and no bytes at all, since a person who goes on
/// does not need the rest. If the rule wants a piece, all candidates are compared by what follows each
/// (`PieceRollout`).
extension ExpectedWaitStrategy {
  private var rule: PieceRule { PieceRule() }

  /// The waiting that is as bad as a clip's first stall: to decide whether a piece is worth its bytes, and
  /// which piece is next.
  private static let standstillMilliseconds = (worth: 2_000, next: 5_000)
  /// The time within which a piece must play to count: the likelier that is, the more it is worth.
  private static let soonMilliseconds = 10_000
  /// The minimum number of futures: a stall is rare in any of them.
  static let pieceFutures = 64
  /// The time of pieces in a future, in percent of that at the recent bandwidth.
  private static let timesPercent = 60...140
  /// The maximum number of a clip's next pieces whose sizes are considered.
  private static let knownPieces = 12

  /// Whether the playing clip and the next ones load piece by piece: with one transfer at a time, or in a
  /// feed of clips over a link that carries little more than what plays.
  func loadsPieces(_ facts: EngineFacts, _ active: Int) -> Bool {
    guard !passesActive(facts) else { return false }
    let positions = facts.next(PieceRule.ahead.count, from: active, with: true)
    guard positions.allSatisfy({ facts.clip($0) != nil }) else { return false }
    return facts.settings.parallelTransfers == 1
      || !facts.network.gainsByParallelTransfers && isBusy(positions, facts)
        && facts.next(leading, from: active).allSatisfy(facts.isClip)
  }

  /// The link's time for clips, in percent of their playing time: with their smallest variants at most this,
  /// or no order helps; with the best ones at least this, or several at once do as well.
  private static let busyPercent = (smallest: 125, best: 12)
  /// The minimum playing time of a piece in round trips: one shorter piece after the other would leave the
  /// link idle.
  private static let pieceRoundTrips = 4

  private func isBusy(_ positions: [Int], _ facts: EngineFacts) -> Bool {
    var (plays, smallest, best) = (0, 0, 0)
    for position in positions {
      guard let clip = facts.clip(position),
        facts.network.roundTripMilliseconds * Self.pieceRoundTrips <= clip.file.pieceMilliseconds
      else { return false }
      let bytes = facts.list[position].media[0].slots.compactMap { slot in
        facts.files[slot].isGone ? nil : facts.files[slot].file.load.bytes
      }
      plays += clip.milliseconds
      smallest += facts.network.recentMilliseconds(bytes.min() ?? 0)
      best += facts.network.recentMilliseconds(bytes.max() ?? 0)
    }
    return smallest * 100 <= plays * Self.busyPercent.smallest
      && best * 100 >= plays * Self.busyPercent.best
  }

  /// The wants for the clips behind the next ones while no piece of these is wanted: the first piece of each,
  /// in case the person comes there sooner than expected.
  private func wantsBehind(_ facts: EngineFacts, _ active: Int, _ wake: inout Wake) -> [Want] {
    let next = facts.next(PieceRule.ahead.count, from: active, with: true)
    let wait = expectedWait(facts, active, facts.costs, busyMilliseconds: 0) {
      next.contains($0) || (nextPiece(of: $0, facts)?.index ?? 0) > 0
    }
    return dueWants(wait, facts, active, isUrgent: false, &wake).map { due in
      nextPiece(of: due.position, facts).map { want($0, of: due.position, facts, due.reason) }
        ?? due
    }
  }

  private static let overdueMilliseconds = 2_000

  /// The time at which a transfer is overdue: its request, twice the time that it takes, and
  /// `overdueMilliseconds`. If another transfer may run, it need not wait for an overdue one. `nil` if it is
  /// unknown when the transfer began.
  private func overdueTime(of transfer: Transfer, _ facts: EngineFacts) -> Int? {
    guard let asked = transfer.askedAt else { return nil }
    let takes =
      facts.network.roundTripMilliseconds + facts.network.milliseconds(transfer.bytesUnderWay)
    return asked + 2 * takes + Self.overdueMilliseconds
  }

  /// The next wanted piece, and the transfers that continue meanwhile.
  func pieceWants(_ facts: EngineFacts, _ active: Int, _ wake: inout Wake) -> [Want] {
    let isOneTransfer = facts.settings.parallelTransfers == 1
    let next = facts.next(min(leading, PieceRule.ahead.count), from: active)
    let running = facts.allRunning(
      [active] + (isOneTransfer ? next : facts.next(leading, from: active)))
    var choices: [Choice] = []
    var rules: Int?
    var reserve: Want?
    if let piece = nextPiece(of: active, facts) {
      let left =
        min(piece.start, piece.clip.milliseconds) - facts.playedMilliseconds
        - facts.stoodMilliseconds
      let took = facts.network.milliseconds(piece.bytes) + facts.network.roundTripMilliseconds
      let buffer = rule.bufferMilliseconds(pieceTakes: took, hasStood: facts.viewer.hasStood)
      let isWorth = isWorth(piece, active, facts)
      if left <= 0 || left < buffer && isWorth {
        rules = 0
      } else {
        // The piece is due later, or the person may stay longer than the futures say.
        let due = left < buffer ? futures.goodUntil : facts.now + left - buffer
        wake.at(max(facts.now + Self.shortestIdleMilliseconds, due), .due)
        let played = facts.playedMilliseconds / piece.milliseconds
        let playedBytes = played > 0 ? end(ofPiece: played - 1, of: piece.clip, facts) : 0
        if isReserveWorth(
          facts, active, piece.start..<piece.start + piece.milliseconds,
          bytes: piece.bytes, aheadBytes: piece.end - playedBytes, dueInMilliseconds: left - buffer)
        {
          reserve = want(piece, of: active, facts, .activeRest(missingBytes: piece.bytes))
        }
      }
      if rules != nil || isWorth {
        choices.append(
          Choice(
            clip: 0, piece: piece,
            want: want(piece, of: active, facts, .activeRest(missingBytes: piece.bytes))))
      }
      // A clip that is waited for leaves no choice, nor does one that stalls though it should play with the
      // held bytes.
      let standsLong = left <= -EngineFacts.playerBufferMilliseconds
      let isOverdue = running.contains {
        $0.want.position == active && !isOneTransfer
          && (overdueTime(of: $0.transfer, facts) ?? .max) <= facts.now
      }
      if rules != nil,
        facts.allowance.bytes <= 0 || !isOverdue && (piece.index == 0 || standsLong)
      {
        return [choices[0].want]
      }
    }
    for position in [active] + next {
      for media in facts.list[position].media where facts.files[media.slot].retryAt > facts.now {
        let file = facts.files[media.slot]
        wake.at(file.retryAt, .retry(attempts: file.attempts))
      }
    }
    guard facts.allowance.bytes > 0 else { return [] }
    let goesOn = running.map(\.want)
    if isOneTransfer, !running.isEmpty { return [goesOn[0]] }
    let overdueTimes = running.map { overdueTime(of: $0.transfer, facts) }
    if !overdueTimes.allSatisfy({ $0.map { $0 <= facts.now } ?? false }) {
      if let last = overdueTimes.compactMap(\.self).max(), last > facts.now { wake.at(last, .due) }
      // A due piece of the playing clip runs beside another clip's.
      let isBeside = rules == 0 && !goesOn.contains { $0.position == active }
      return (isBeside ? [choices[0].want] : []) + goesOn
    }
    // An overdue transfer has brought nothing for long: others run beside it.
    if goesOn.contains(where: { $0.position == active }) { (choices, rules) = ([], nil) }
    for (step, position) in next.enumerated()
    where !goesOn.contains(where: { $0.position == position }) {
      guard let piece = nextPiece(of: position, facts), piece.start < PieceRule.ahead[step] * 1_000,
        isWorth(piece, position, facts)
      else { continue }
      let reason = PrefetchReason.near(distance: position - active, bytes: piece.bytes)
      choices.append(
        Choice(clip: step + 1, piece: piece, want: want(piece, of: position, facts, reason)))
    }
    if rules == nil {
      let clip = rule.next { step, milliseconds in
        choices.contains { $0.clip == step && $0.piece.start < milliseconds }
      }
      rules = choices.firstIndex { $0.clip == clip }
    }
    guard let rules else {
      wake.at(max(facts.now + Self.shortestIdleMilliseconds, futures.goodUntil), .due)
      let behind = isOneTransfer ? [] : wantsBehind(facts, active, &wake)
      return behind.isEmpty ? goesOn + (reserve.map { [$0] } ?? []) : goesOn + behind
    }
    return goesOn + [choices[best(choices, rules, facts, [active] + next)].want]
  }

  /// A piece that may be next.
  private struct Choice {
    /// The clip of the piece: 0 for the playing one, or the number of the next one.
    let clip: Int
    let piece: Piece
    let want: Want
  }

  /// The choice with the smallest loss over all futures, each with its own bandwidth; before the bandwidth is
  /// measured, the rule's choice.
  private func best(
    _ choices: [Choice], _ rules: Int, _ facts: EngineFacts, _ positions: [Int]
  ) -> Int {
    guard choices.count > 1, facts.network.isMeasured else { return rules }
    let clips = positions.compactMap { rolloutClip($0, facts) }
    guard clips.count == positions.count else { return rules }
    let rollout = PieceRollout(
      rule: rule, clips: clips, now: facts.now, playedMilliseconds: facts.playedMilliseconds,
      hasStood: facts.viewer.hasStood, roundTripMilliseconds: facts.network.roundTripMilliseconds,
      standstillMilliseconds: Self.standstillMilliseconds.next)
    var costs = [Int](repeating: 0, count: choices.count)
    for future in 0..<futures.count {
      let visits = futures.visits[futures.starts[future]..<futures.starts[future + 1]]
      // Skip futures in which the person has gone.
      guard let first = visits.first, first.at + first.dwell > facts.now else { continue }
      let percent = Self.timesPercent.lowerBound + future * Self.timesPercent.count / futures.count
      let kbps = facts.network.downlinkKbps * 100 / percent
      for (index, choice) in choices.enumerated() {
        costs[index] += rollout.cost(of: choice.clip, visits, kbps: kbps)
      }
    }
    // Of equals, the rule's choice.
    costs[rules] -= 1
    return costs.indices.min { costs[$0] < costs[$1] } ?? rules
  }

  private func rolloutClip(_ position: Int, _ facts: EngineFacts) -> PieceRollout.Clip? {
    guard let clip = facts.clip(position), let bytes = clip.file.file.load.bytes else { return nil }
    let (held, all) = facts.parts(of: clip, each: clip.file.pieceMilliseconds)
    var (next, before): ([Int], Int) = ([], clip.file.there.prefix)
    for piece in held..<min(all, held + Self.knownPieces) {
      let end = end(ofPiece: piece, of: clip, facts)
      next.append(max(0, end - before))
      before = max(before, end)
    }
    let mean = bytes / max(1, all)
    return PieceRollout.Clip(
      position: position, pieceMilliseconds: clip.file.pieceMilliseconds, held: held, count: all,
      nextBytes: next, meanBytes: mean,
      wasteMilliseconds: Int(min(Double(mean) * Double(price(facts)) / 1e6, 1e9)))
  }

  /// A clip's first piece that is not held: a second, or a chunk.
  struct Piece {
    let clip: (file: FileState, milliseconds: Int)
    let index: Int
    let end: Int
    /// The number of bytes that it lacks.
    let bytes: Int

    var milliseconds: Int { clip.file.pieceMilliseconds }
    /// The playback time at which it begins.
    var start: Int { index * milliseconds }
  }

  /// The next piece of a clip; `nil` if all is held, or nothing can be requested now.
  func nextPiece(of position: Int, _ facts: EngineFacts) -> Piece? {
    guard let clip = facts.clip(position), !clip.file.isGone, clip.file.retryAt <= facts.now,
      facts.list[position].expiresAt.map({ $0 > facts.now }) ?? true
    else { return nil }
    let (held, all) = facts.parts(of: clip, each: clip.file.pieceMilliseconds)
    guard held < all else { return nil }
    let end = end(ofPiece: held, of: clip, facts)
    return Piece(clip: clip, index: held, end: end, bytes: max(0, end - clip.file.there.prefix))
  }

  private func end(
    ofPiece piece: Int, of clip: (file: FileState, milliseconds: Int), _ facts: EngineFacts
  ) -> Int {
    let end = facts.end(ofPart: piece, of: clip, each: clip.file.pieceMilliseconds)
    // The end of a chunk is known, whatever other clips' starts turned out to be.
    return clip.file.hasCommonChunks ? end : facts.corrected(end, of: clip.file.file.load)
  }

  private func want(
    _ piece: Piece, of position: Int, _ facts: EngineFacts, _ reason: PrefetchReason
  ) -> Want {
    Want(position: position, amount: .bytes(media: 0, 0..<piece.end), reason: reason)
  }

  /// Whether the stall that a piece may prevent weighs no less than the price of its bytes, which may not be
  /// needed.
  private func isWorth(_ piece: Piece, _ position: Int, _ facts: EngineFacts) -> Bool {
    let isActive = position == facts.viewer.active
    var (soon, unneeded) = (0, futures.count)
    for future in 0..<futures.count {
      let visits = futures.visits[futures.starts[future]..<futures.starts[future + 1]]
      guard let visit = visits.first(where: { $0.position == position }) else { continue }
      let plays =
        piece.start
        + (isActive ? facts.now - facts.playedMilliseconds : visit.at)
      guard plays < visit.at + visit.dwell else { continue }
      unneeded -= 1
      if plays < facts.now + Self.soonMilliseconds { soon += 1 }
    }
    let worth = Double(soon * Self.standstillMilliseconds.worth) * 1e6
    return soon > 0 && worth >= Double(unneeded * piece.bytes) * Double(price(facts))
  }
}
