/// The wants of `expected-wait` for the active item.
extension ExpectedWaitStrategy {
  /// Whether the bytes that the active item lacks take longer than the person will stay, in most futures, and
  /// longer than any recent wait.
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

  /// Whether the bytes that the active item lacks are on their way, so that what is requested now comes
  /// behind them.
  func isNearlyThere(_ facts: EngineFacts, _ active: Int, _ costs: HintCosts) -> Bool {
    let (held, needed, _) = facts.start(of: active, costs)
    return facts.network.milliseconds(max(0, needed - held)) <= 2
      * facts.network.roundTripMilliseconds
  }

  /// The want for the active item, and the time for which it keeps the link busy.
  struct ActiveRest {
    var want: Want?
    var busyMilliseconds = 0
    /// Whether the clip stalls, or will before more of it can arrive.
    var isShort = false
    /// The next piece of a clip if it is not due, but worth its bytes in case the link stops, and the time
    /// for which it keeps the link busy.
    var reserve: (want: Want, milliseconds: Int)?
  }

  /// The want for the active item, and the time for which it keeps the link busy: the bytes that start it, at
  /// any cost; of a playing clip, as much as must begin to arrive before it stalls.
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
    // Running transfers continue to their ends: to stop and begin again costs round trips.
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
      // Decide again when the person should have gone: they may stay.
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

  /// Whether a piece of the playing clip is worth its bytes before it is due, in case the link stops until
  /// then: the clip then stalls for as much of the piece as is watched. That is compared with the chance that
  /// the person goes on until then, times the piece's bytes at the price.
  ///
  /// - Parameter aheadBytes: the number of the clip's bytes ahead of the playback position, including the
  ///   piece: no more than may be held ahead of the person.
  func isReserveWorth(
    _ facts: EngineFacts, _ active: Int, _ piece: Range<Int>, bytes: Int, aheadBytes: Int,
    dueInMilliseconds due: Int
  ) -> Bool {
    // In a fling, the futures begin where it stops.
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
    // Cases that no future shows count as half a future.
    let unneeded = (Double(gone) + 0.5) * Double(bytes)
    return watched > 0 && spared * 1e6 >= unneeded * Double(price(facts))
  }

  /// The time for which the active item is watched at most, in this percentage of the futures.
  private func watchedMilliseconds(
    _ facts: EngineFacts, _ active: Int, in percent: Int
  ) -> Int {
    // In a fling, the futures begin where it stops.
    guard let first = futures.visits.first, first.position == active else {
      return facts.now - facts.viewer.activeSince
    }
    let ends = futures.firstEnds
    return max(ends[min(ends.count * percent / 100, ends.count - 1)], facts.now)
      - facts.viewer.activeSince
  }
}

/// A clip that plays while it loads.
struct PlayingClip {
  /// The times by which bytes are needed.
  let milestones: [(time: Int, end: Int)]
  let headBytes: Int
  /// The playback position.
  let played: Int
  /// How far the clip will be watched: in three of four futures, and at the most.
  let watched: Int
  let longest: Int
  /// The number of its first bytes that are held, and that are held or in transfer.
  let held: Int
  let coming: Int

  /// The playback time to request at once; less if the clip is hardly watched any longer.
  let pieceMilliseconds: Int

  static let pieceRange = 1_000...3_000
  /// The price up to which pieces have their maximum length.
  private static let longPiecePrice = 1_000

  /// The playback time to request at once. Long pieces cost fewer round trips; of short ones less is never
  /// watched, half a piece of each clip that the person leaves. The sum of both is least at a length that
  /// falls with the root of the price.
  static func pieceMilliseconds(atPrice price: Int) -> Int {
    let root = (Double(longPiecePrice) / Double(max(price, longPiecePrice))).squareRoot()
    return max(pieceRange.lowerBound, Int(Double(pieceRange.upperBound) * root))
  }

  /// The time for which the clip plays on with the held bytes.
  var leftMilliseconds: Int { time(through: held) - played }

  /// The number of bytes that have played, and of those that play the clip as far as it will be watched.
  var playedBytes: Int { bytes(through: played) }
  var watchedBytes: Int { bytes(through: watched) }

  /// The time for which the link may do something else before the clip runs out, and the end of the bytes to
  /// request then: a piece beyond those in transfer, and all that must begin to arrive within the margin, as
  /// far as it will be watched. `nil` if no more than the bytes in transfer will be watched.
  ///
  /// - Parameter least: the playback time up to which a stalled player wants the clip; 0 for a playing one.
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

  /// The playback time through which the first `bytes` of the file play, in milliseconds.
  func time(through bytes: Int) -> Int {
    var before = (x: headBytes, y: 0)
    for (at, end) in milestones {
      if end > bytes { return Interpolation.value(at: bytes, from: before, to: (end, at)) }
      before = (end, at)
    }
    return before.y
  }
}
