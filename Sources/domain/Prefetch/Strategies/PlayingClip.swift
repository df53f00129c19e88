/// What our strategy wants of the item that the person looks at.
extension ExpectedWaitStrategy {
  /// Whether what the active item lacks takes longer than the person will stay, in most futures, and longer than
  /// they lately waited for anything that came.
  func isHopeless(_ facts: EngineFacts, _ active: Int, _ costs: HintCosts) -> Bool {
    let (held, needed, _) = facts.start(of: active, costs)
    let done = facts.now + facts.network.milliseconds(max(0, needed - held))
    guard done - facts.viewer.activeSince > facts.viewer.history.longestWaitMilliseconds else {
      return false
    }
    let gone = (0..<futures.count).reduce(0) { count, future in
      let visit = futures.visits[futures.starts[future]]
      return count + (visit.position == active && visit.at + visit.dwell <= done ? 1 : 0)
    }
    return gone * 2 > futures.count
  }

  /// Whether what the active item lacks is on its way, so that what is asked for now comes behind it.
  func isNearlyThere(_ facts: EngineFacts, _ active: Int, _ costs: HintCosts) -> Bool {
    let (held, needed, _) = facts.start(of: active, costs)
    return facts.network.milliseconds(max(0, needed - held)) <= 2
      * facts.network.roundTripMilliseconds
  }

  /// What of the active item is wanted, and how long that keeps the link busy.
  struct ActiveRest {
    var want: Want?
    var busyMilliseconds = 0
    /// The clip stands, or will before more of it can come.
    var isShort = false
    /// The next piece of a clip where it is not due, but worth its bytes in case the link stops, and how long that keeps the
    /// link busy.
    var reserve: (want: Want, milliseconds: Int)?
  }

  /// What of the active item is wanted: what starts it, whatever it costs; of a clip that plays, as much as must
  /// begin to arrive before it stalls; and how long that keeps the link busy.
  func activeRest(
    _ facts: EngineFacts, _ active: Int, _ isReady: Bool, _ costs: HintCosts, _ wake: inout Wake
  ) -> ActiveRest {
    let all = Want(position: active, amount: .entire, reason: .activeRest(missingBytes: nil))
    guard isReady else {
      return ActiveRest(
        want: Want(position: active, amount: .start, reason: .activeStart(missingBytes: 0)))
    }
    guard facts.isClip(active), facts.list[active].media.count == 1 else {
      return ActiveRest(want: all)
    }
    let slot = facts.list[active].media[0].slot
    let (load, held) = (facts.files[slot].file.load, facts.files[slot].there.prefix)
    guard let bytes = load.bytes, let duration = load.durationMilliseconds, duration > 0 else {
      return ActiveRest(want: all)
    }
    guard held < bytes, load.timing?.isStartable != false else {
      return ActiveRest(want: held < bytes ? all : nil)
    }
    // What is under way goes on to its end: to stop it and begin again costs round trips.
    var there = facts.files[slot].there
    for transfer in facts.transfers where transfer.slot == slot && !transfer.isPaused {
      there.insert(transfer.rest.clamped(to: 0..<bytes))
    }
    let coming = there.prefix
    let playing = PlayingClip(
      milestones: load.milestones(duration: duration, bytes: bytes).map {
        ($0.time, facts.corrected($0.end, of: load))
      },
      headBytes: facts.corrected(load.timing?.headBytes ?? 0, of: load),
      played: facts.playedMilliseconds,
      watched: watchedMilliseconds(facts, active, in: 75),
      longest: watchedMilliseconds(facts, active, in: 100),
      held: held, coming: coming,
      pieceMilliseconds: PlayingClip.pieceMilliseconds(atPrice: price(facts)))
    let isStanding = facts.viewer.playback != .playing
    let margin =
      2 * facts.network.roundTripMilliseconds + EngineFacts.playerBufferMilliseconds
      + facts.stoodMilliseconds
    var wanted = coming
    var reserve: (want: Want, milliseconds: Int)?
    if let (slack, end) = playing.due(
      within: margin, least: isStanding ? facts.playedMilliseconds + margin : 0, facts.network)
    {
      if slack <= margin {
        wanted = max(coming, end)
      } else {
        wake.at(facts.now + slack - margin, .due)
        let out = playing.time(through: coming)
        let piece = out..<max(out, playing.time(through: end))
        if coming == held, end > held,
          isReserveWorth(
            facts, active, piece, bytes: end - held, aheadBytes: end - playing.playedBytes,
            dueInMilliseconds: slack - margin)
        {
          reserve = (
            Want(
              position: active, amount: .bytes(media: 0, 0..<end),
              reason: .activeRest(missingBytes: end - held)),
            facts.network.milliseconds(end - held) + 2 * facts.network.roundTripMilliseconds
          )
        }
      }
    } else if coming < bytes {
      // Whether they stay all the same is asked again when they should have gone.
      wake.at(futures.goodUntil, .due)
    }
    return ActiveRest(
      want: wanted > held
        ? Want(
          position: active, amount: .bytes(media: 0, 0..<wanted),
          reason: .activeRest(missingBytes: wanted - held)) : nil,
      busyMilliseconds: facts.network.milliseconds(
        max(0, max(playing.watchedBytes, wanted) - held)),
      isShort: wanted > held
        && (isStanding || playing.leftMilliseconds <= 2 * facts.network.roundTripMilliseconds)
        && facts.network.milliseconds(wanted - held) > 2 * facts.network.roundTripMilliseconds,
      reserve: reserve)
  }

  /// Whether a piece of the clip that plays is worth its bytes before it is due, in case the link stops until then: the clip
  /// stands for so much less then as is watched of the piece. That is held against the chance that the person goes on
  /// until then, times the piece's bytes at the price.
  ///
  /// - Parameter aheadBytes: how many bytes of the clip are ahead of what plays with the piece: no more than may be held of
  ///   what lies ahead of the person.
  func isReserveWorth(
    _ facts: EngineFacts, _ active: Int, _ piece: Range<Int>, bytes: Int, aheadBytes: Int,
    dueInMilliseconds due: Int
  ) -> Bool {
    // In a fling the futures begin where it stops.
    guard due > 0, aheadBytes <= facts.allowance.bytes, futures.visits.first?.position == active
    else { return false }
    let began = facts.now - facts.playedMilliseconds
    var (watched, gone) = (0, 0)
    for end in futures.firstEnds {
      watched += max(0, min(end - began, piece.upperBound) - piece.lowerBound)
      gone += end <= facts.now + due ? 1 : 0
    }
    let spared =
      Double(watched)
      * facts.network.outages(
        inMilliseconds: due, outlasting: piece.lowerBound - facts.playedMilliseconds)
    // What no future shows may be all the same: it counts as half of one.
    let unneeded = (Double(gone) + 0.5) * Double(bytes)
    return watched > 0 && spared * 1e6 >= unneeded * Double(price(facts))
  }

  /// How far the active item will have been watched at most, in this percentage of the futures.
  private func watchedMilliseconds(
    _ facts: EngineFacts, _ active: Int, in percent: Int
  ) -> Int {
    // In a fling the futures begin where it stops.
    guard let first = futures.visits.first, first.position == active else {
      return facts.now - facts.viewer.activeSince
    }
    let ends = futures.firstEnds
    return max(ends[min(ends.count * percent / 100, ends.count - 1)], facts.now)
      - facts.viewer.activeSince
  }
}

/// A clip that plays while it comes.
struct PlayingClip {
  /// By when which bytes are needed.
  let milestones: [(time: Int, end: Int)]
  let headBytes: Int
  /// How far it has played.
  let played: Int
  /// How far it will be watched: in three of four futures, and at the most.
  let watched: Int
  let longest: Int
  /// How many of its first bytes are there, and are there or under way.
  let held: Int
  let coming: Int

  /// So much of it is asked for at once; where it is hardly watched any longer, less.
  let pieceMilliseconds: Int

  static let pieceRange = 1_000...3_000
  /// Up to this price pieces are as long as they may be.
  private static let longPiecePrice = 1_000

  /// How much is asked for at once: long pieces cost fewer round trips, of short ones less is never watched, half a piece
  /// of each clip that is left. The sum of both is least at a length that falls with the root of the price.
  static func pieceMilliseconds(atPrice price: Int) -> Int {
    let root = (Double(longPiecePrice) / Double(max(price, longPiecePrice))).squareRoot()
    return max(pieceRange.lowerBound, Int(Double(pieceRange.upperBound) * root))
  }

  /// How long it plays on with what is there.
  var leftMilliseconds: Int { time(through: held) - played }

  /// How many bytes have played, and how many play it as far as it will be watched.
  var playedBytes: Int { bytes(through: played) }
  var watchedBytes: Int { bytes(through: watched) }

  /// How long the link may do something else before the clip runs out, and up to where its bytes are then asked for:
  /// a piece beyond what comes already, and all that has to begin to come within the margin, as far as it will be
  /// watched. `nil` if no more than that will be seen.
  ///
  /// - Parameter least: up to where a player wants it that stands; 0 for one that plays.
  func due(
    within margin: Int, least: Int, _ network: NetworkState
  ) -> (slack: Int, end: Int)? {
    let out = time(through: coming)
    guard out < max(longest, least) else { return nil }
    let piece = min(
      out + pieceMilliseconds, max(longest, out + Self.pieceRange.lowerBound))
    var (slack, end) = (out - played, bytes(through: max(piece, least)))
    for (time, _) in milestones where time > out {
      let time = min(time, watched)
      guard time > out else { break }
      let needed = bytes(through: time)
      let late = time - played - network.milliseconds(needed - held)
      slack = min(slack, late)
      if late <= margin { end = max(end, needed) }
    }
    return (slack, end)
  }

  private func bytes(through time: Int) -> Int {
    var before = (x: 0, y: headBytes)
    for (at, end) in milestones {
      if at >= time { return Interpolation.value(at: time, from: before, to: (at, end)) }
      before = (at, end)
    }
    return before.y
  }

  /// How far the first `bytes` of its file play it, in milliseconds.
  func time(through bytes: Int) -> Int {
    var before = (x: headBytes, y: 0)
    for (at, end) in milestones {
      if end > bytes { return Interpolation.value(at: bytes, from: before, to: (end, at)) }
      before = (end, at)
    }
    return before.y
  }
}
