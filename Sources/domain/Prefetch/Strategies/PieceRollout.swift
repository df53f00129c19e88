/// A person's loss in one future if a piece of one of the clips is loaded now, and a rule of thumb continues
/// from there over a link that carries one transfer at a time. The piece with the smallest loss over all
/// futures is a better choice than the rule's own: a rollout (Tesauro and Galperin, NeurIPS 1996; Bertsekas,
/// Tsitsiklis and Wu, "Rollout Algorithms for Combinatorial Optimization", Journal of Heuristics 3, 1997).
struct PieceRollout {
  /// A clip in its present state.
  struct Clip {
    let position: Int
    let pieceMilliseconds: Int
    /// The number of its pieces that are held, and of all.
    let held: Int
    let count: Int
    /// The numbers of bytes of its next pieces, and of any later one.
    let nextBytes: [Int]
    let meanBytes: Int
    /// The cost of a piece that is not watched, in milliseconds of waiting.
    let wasteMilliseconds: Int

    fileprivate func bytes(ofPiece piece: Int) -> Int {
      piece - held < nextBytes.count ? nextBytes[piece - held] : meanBytes
    }
  }

  /// The rule that continues.
  let rule: PieceRule
  /// The playing clip and those behind it, nearest first.
  let clips: [Clip]
  let now: Int
  /// How far the first clip has played, and whether it was waited for or has stalled.
  let playedMilliseconds: Int
  let hasStood: Bool
  let roundTripMilliseconds: Int
  /// The cost of a clip's first stall.
  let standstillMilliseconds: Int

  /// The maximum time of a piece: one that takes longer never arrives.
  private static let longestMilliseconds = 3_600_000
  /// The time to look ahead.
  private static let horizonMilliseconds = 20_000

  /// The loss if the next piece of a clip comes first, in milliseconds of waiting.
  ///
  /// - Parameters:
  ///   - clip: the index in `clips`.
  ///   - visits: how the person goes on.
  ///   - kbps: the link's bandwidth, in kilobits a second.
  func cost(of clip: Int, _ visits: ArraySlice<Futures.Visit>, kbps: Int) -> Int {
    var run = Run(self, visits, kbps: kbps)
    guard run.bring(clip) else { return run.cost }
    while run.time < now + Self.horizonMilliseconds, run.step() {}
    return run.cost
  }

  /// The simulation of a future.
  private struct Run {
    let rollout: PieceRollout
    let visits: ArraySlice<Futures.Visit>
    let kbps: Int
    var visit: Int
    var held: [Int]
    var time: Int
    /// The index of the playing clip, the time at which the person goes on if it plays from now on, and its
    /// position.
    var current = 0
    var leaves: Int
    var played: Int
    /// Whether the clip has no first frame yet, whether it stalls, and whether it ever was waited for or
    /// stalled.
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

    /// Brings the rule's next piece, or nothing until the rule wants one. `false` if nothing more is known.
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

    /// Brings the next piece of a clip.
    mutating func bring(_ clip: Int) -> Bool {
      guard advance(to: time + max(1, took(clip))) else { return false }
      held[clip] += 1
      guard clip == current else { return true }
      if isWaiting { leaves = time + visits[visit].dwell }
      (isWaiting, isStanding) = (false, false)
      return true
    }

    /// Lets the person go on until this time. `false` if they come to an unknown clip.
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
      // Pieces that were held at the beginning are held whatever comes next.
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
