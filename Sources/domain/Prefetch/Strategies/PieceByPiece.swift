/// The rule of thumb by which clips come one piece at a time: it says which pieces may be next, and which one is where
/// nothing is known of the link.
///
/// People mind that a clip stops more than for how long: a clip that was waited for or has stopped is spoilt, and the
/// time that the link has is better spent on those to come. So the clip that plays has a buffer that outlasts a piece of
/// it behind a piece of another, until it stands for the first time; from then on one that hardly outlasts its own.
struct PieceRule {
  /// How long a piece is, but of a clip in chunks.
  static let pieceMilliseconds = 1_000
  /// How many seconds of the next clips are loaded, the nearest first: one of each, then a second of each, and so on.
  static let ahead = [4, 4]
  /// The buffer of the clip that plays is what a player wants and a percentage of the time that its next piece
  /// takes, until it has stood for the first time, and from then on.
  private static let pieceTimes = (untouched: 140, spoilt: 50)
  /// Until then it is no less than this: a fast link, too, has its dips.
  private static let leastMilliseconds = 2_000

  /// With less of the clip that plays its next piece is due.
  func bufferMilliseconds(pieceTakes took: Int, hasStood: Bool) -> Int {
    let buffer = EngineFacts.playerBufferMilliseconds
    guard !hasStood else { return buffer + took * Self.pieceTimes.spoilt / 100 }
    return max(buffer + took * Self.pieceTimes.untouched / 100, Self.leastMilliseconds)
  }

  /// Which of the next clips, counted from 1, the next piece is of, if it is not due of the one that plays.
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

/// What our strategy wants of clips that come one piece at a time.
///
/// Where a client runs one transfer at a time, or a link carries little more than one clip, nothing overtakes what is under
/// way, so that clips come in pieces of a second, and it is decided anew with each one. Three things compete for the next: the clip that plays, which stands when its buffer runs out; the starts of the
/// next clips, which are waited for if the person goes on; and no bytes at all, for who goes on does not need the rest.
/// Where the rule wants one, all that may be next are held against each other by what follows of each (`PieceRollout`).
extension ExpectedWaitStrategy {
  private var rule: PieceRule { PieceRule() }

  /// A clip that stands for the first time is as bad as so much waiting, where it is asked whether a piece is worth its
  /// bytes, and where it is asked which piece is next.
  private static let standstillMilliseconds = (worth: 2_000, next: 5_000)
  /// A piece is worth the more, the likelier it plays so soon.
  private static let soonMilliseconds = 10_000
  /// How many futures are drawn at least: a standstill is rare in any of them.
  static let pieceFutures = 64
  /// How long pieces take in a future: the milliseconds for each hundred at the recent bandwidth.
  private static let timesPercent = 60...140
  /// The next pieces of a clip of which the sizes are looked at.
  private static let knownPieces = 12

  /// Whether clips are loaded piece by piece, the one that plays and the next ones: where one transfer runs at a time, and
  /// where the link has to do with little more than what plays, in a feed of clips.
  func loadsPieces(_ facts: EngineFacts, _ active: Int) -> Bool {
    guard !passesActive(facts) else { return false }
    let positions = facts.next(PieceRule.ahead.count, from: active, with: true)
    guard positions.allSatisfy({ facts.clip($0) != nil }) else { return false }
    return facts.settings.parallelTransfers == 1
      || !facts.network.gainsByParallelTransfers && isBusy(positions, facts)
        && facts.next(leading, from: active).allSatisfy(facts.isClip)
  }

  /// How much of the time in which clips play the link has to do with them: with their smallest variants so much at most, or
  /// no order helps; with the best ones so much at least, or several come beside each other as well.
  private static let busyPercent = (smallest: 125, best: 12)
  /// A piece plays as long as so many round trips at least, or one after the other would leave the link idle.
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

  /// What is loaded of the clips behind the next ones while no piece of these is wanted: the first piece of each, for whoever
  /// comes there sooner than expected.
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

  /// When a transfer is overdue: by so much, and by as long again as its bytes take. There is nothing to wait for then, where
  /// another may run. `nil` where it is not known when it began.
  private func overdueTime(of transfer: Transfer, _ facts: EngineFacts) -> Int? {
    guard let asked = transfer.askedAt else { return nil }
    let takes =
      facts.network.roundTripMilliseconds + facts.network.milliseconds(transfer.bytesUnderWay)
    return asked + 2 * takes + Self.overdueMilliseconds
  }

  /// The next piece that is wanted, and what goes on meanwhile.
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
        // Later it is due, or they stay all the same.
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
      // What is waited for has no choice, nor has what stands though it should play by what is held.
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
      // What is due of the clip that plays goes beside another's.
      let isBeside = rules == 0 && !goesOn.contains { $0.position == active }
      return (isBeside ? [choices[0].want] : []) + goesOn
    }
    // What is overdue has brought nothing for long: others go on beside it.
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
    /// Of the clip that plays, 0, or of the next ones.
    let clip: Int
    let piece: Piece
    let want: Want
  }

  /// The choice with which least is lost over all futures, each with a bandwidth of its own; before any was measured, the
  /// rule's.
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
      // They are still there.
      guard let first = visits.first, first.at + first.dwell > facts.now else { continue }
      let percent = Self.timesPercent.lowerBound + future * Self.timesPercent.count / futures.count
      let kbps = facts.network.downlinkKbps * 100 / percent
      for (index, choice) in choices.enumerated() {
        costs[index] += rollout.cost(of: choice.clip, visits, kbps: kbps)
      }
    }
    // Of equals the rule's.
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

  /// A second of a clip or a chunk, the first that is not held.
  struct Piece {
    let clip: (file: FileState, milliseconds: Int)
    let index: Int
    let end: Int
    /// What of it is missing.
    let bytes: Int

    var milliseconds: Int { clip.file.pieceMilliseconds }
    /// When it plays.
    var start: Int { index * milliseconds }
  }

  /// `nil` where all is held, or nothing can be asked for now.
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
    // Where a chunk ends is known, whatever other clips' starts turned out to be.
    return clip.file.hasCommonChunks ? end : facts.corrected(end, of: clip.file.file.load)
  }

  private func want(
    _ piece: Piece, of position: Int, _ facts: EngineFacts, _ reason: PrefetchReason
  ) -> Want {
    Want(position: position, amount: .bytes(media: 0, 0..<piece.end), reason: reason)
  }

  /// Whether the standstill that a piece may spare weighs no less than its bytes, which may not be needed, at the price.
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
