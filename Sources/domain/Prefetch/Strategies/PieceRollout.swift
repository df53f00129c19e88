/// What a person loses in one future if a piece of one of the next clips is loaded now, and a rule of thumb goes on from
/// there over a link that carries one transfer at a time. The piece with which they lose least in all futures together is
/// a better choice than the rule's own: a rollout (Tesauro and Galperin, NeurIPS 1996; Bertsekas, Tsitsiklis and Wu,
/// "Rollout Algorithms for Combinatorial Optimization", Journal of Heuristics 3, 1997).
struct PieceRollout {
  /// A clip as it is now.
  struct Clip {
    let position: Int
    let pieceMilliseconds: Int
    /// How many of its pieces are held, and how many it has.
    let held: Int
    let count: Int
    /// How many bytes its next pieces have, and any one behind these.
    let nextBytes: [Int]
    let meanBytes: Int
    /// What a piece costs that is not watched, in milliseconds of waiting.
    let wasteMilliseconds: Int

    fileprivate func bytes(ofPiece piece: Int) -> Int {
      piece - held < nextBytes.count ? nextBytes[piece - held] : meanBytes
    }
  }

  /// The rule that goes on.
  let rule: PieceRule
  /// The clip that plays, and those behind it, the nearest first.
  let clips: [Clip]
  let now: Int
  /// How far the first one has played, and whether it was waited for or has stopped.
  let playedMilliseconds: Int
  let hasStood: Bool
  let roundTripMilliseconds: Int
  /// What it costs that a clip stands for the first time.
  let standstillMilliseconds: Int

  /// A piece that takes longer never comes.
  private static let longestMilliseconds = 3_600_000
  /// So far is looked ahead.
  private static let horizonMilliseconds = 20_000

  /// What is lost if the next piece of a clip comes first, in milliseconds of waiting.
  ///
  /// - Parameters:
  ///   - clip: which of `clips`.
  ///   - visits: how the person goes on.
  ///   - kbps: the link's bandwidth, in kilobits a second.
  func cost(of clip: Int, _ visits: ArraySlice<Futures.Visit>, kbps: Int) -> Int {
    var run = Run(self, visits, kbps: kbps)
    guard run.bring(clip) else { return run.cost }
    while run.time < now + Self.horizonMilliseconds, run.step() {}
    return run.cost
  }

  /// A future as it unfolds.
  private struct Run {
    let rollout: PieceRollout
    let visits: ArraySlice<Futures.Visit>
    let kbps: Int
    var visit: Int
    var held: [Int]
    var time: Int
    /// The clip that plays, when its viewer goes on if it plays from now on, and how far it has played.
    var current = 0
    var leaves: Int
    var played: Int
    /// It has no first frame yet, or it stands; and whether it ever did.
    var isWaiting: Bool
    var isStanding: Bool
    var hasStood: Bool
    var cost = 0

    init(_ rollout: PieceRollout, _ visits: ArraySlice<Futures.Visit>, kbps: Int) {
      self.rollout = rollout
      self.visits = visits
      self.kbps = max(1, kbps)
      visit = visits.startIndex
      held = rollout.clips.map(\.held)
      time = rollout.now
      leaves = visits[visit].at + visits[visit].dwell
      played = rollout.playedMilliseconds
      hasStood = rollout.hasStood
      isWaiting = held[0] == 0
      isStanding =
        held[0] * rollout.clips[0].pieceMilliseconds <= played
        && held[0] < rollout.clips[0].count
    }

    private func took(_ clip: Int) -> Int {
      let milliseconds = rollout.clips[clip].bytes(ofPiece: held[clip]) * 8 / kbps
      return min(milliseconds, PieceRollout.longestMilliseconds) + rollout.roundTripMilliseconds
    }

    /// The rule's next piece comes, or nothing until it wants one. `false` where nothing more is known.
    mutating func step() -> Bool {
      var until = leaves
      if held[current] < rollout.clips[current].count {
        let left = held[current] * rollout.clips[current].pieceMilliseconds - played
        let buffer = rollout.rule.bufferMilliseconds(pieceTakes: took(current), hasStood: hasStood)
        if isWaiting || left < max(buffer, 1) { return bring(current) }
        until = min(until, time + left - buffer + 1)
      }
      let next = rollout.rule.next { step, milliseconds in
        let clip = current + step
        return clip < held.count && held[clip] < rollout.clips[clip].count
          && held[clip] * rollout.clips[clip].pieceMilliseconds < milliseconds
      }
      if let next { return bring(current + next) }
      return advance(to: max(until, time + 1))
    }

    /// The next piece of a clip comes.
    mutating func bring(_ clip: Int) -> Bool {
      guard advance(to: time + max(1, took(clip))) else { return false }
      held[clip] += 1
      guard clip == current else { return true }
      if isWaiting { leaves = time + visits[visit].dwell }
      (isWaiting, isStanding) = (false, false)
      return true
    }

    /// The person goes on until this moment. `false` if they come to what is not known.
    private mutating func advance(to end: Int) -> Bool {
      while time < end {
        let until = isWaiting || isStanding ? end : min(end, max(leaves, time))
        if isWaiting || isStanding {
          stand(until - time)
        } else {
          play(until - time)
        }
        time = until
        if !isWaiting, !isStanding, time >= leaves, !goOn() { return false }
      }
      return true
    }

    private mutating func stand(_ milliseconds: Int) {
      leaves += milliseconds
      if !hasStood { cost += rollout.standstillMilliseconds }
      hasStood = true
      cost += milliseconds
    }

    private mutating func play(_ milliseconds: Int) {
      let out = held[current] * rollout.clips[current].pieceMilliseconds
      played += milliseconds
      guard held[current] < rollout.clips[current].count, played > out else { return }
      isStanding = true
      stand(played - out)
      played = out
    }

    private mutating func goOn() -> Bool {
      let piece = rollout.clips[current].pieceMilliseconds
      let watched = (played + piece - 1) / piece
      // What was there before is there whatever comes next.
      let brought = held[current] - max(watched, rollout.clips[current].held)
      cost += max(0, brought) * rollout.clips[current].wasteMilliseconds
      visit += 1
      guard visit < visits.endIndex,
        let next = rollout.clips.firstIndex(where: { $0.position == visits[visit].position })
      else { return false }
      (current, played, hasStood, isStanding) = (next, 0, false, false)
      isWaiting = held[next] == 0
      leaves = time + visits[visit].dwell
      return true
    }
  }
}
