import Feed

/// What our strategy wants of the item that the person looks at.
extension PrefetchEngine {
  /// Whether what the active item lacks takes longer than the person will stay, in most futures, and longer than
  /// they lately waited for anything that came.
  func isHopeless(_ active: Int, _ costs: HintCosts) -> Bool {
    let (held, needed, _) = start(of: active, costs)
    let done = now + network.milliseconds(max(0, needed - held))
    guard done - viewer.activeSince > futures.longestWaitMilliseconds else { return false }
    let gone = (0..<futures.count).reduce(0) { count, future in
      let visit = futures.visits[futures.starts[future]]
      return count + (visit.position == active && visit.at + visit.dwell <= done ? 1 : 0)
    }
    return gone * 2 > futures.count
  }

  /// Whether what the active item lacks is on its way, so that what is asked for now comes behind it.
  func isNearlyThere(_ active: Int, _ costs: HintCosts) -> Bool {
    let (held, needed, _) = start(of: active, costs)
    return network.milliseconds(max(0, needed - held)) <= 2 * network.roundTripMilliseconds
  }

  /// What of the active item is wanted: what starts it, whatever it costs; of a clip that plays, as much as must
  /// begin to arrive before it stalls; and how long that keeps the link busy.
  func activeRest(
    _ active: Int, _ isReady: Bool, _ costs: HintCosts, _ wake: inout Wake
  ) -> (want: Want?, busyMilliseconds: Int) {
    let all = Want(position: active, amount: .entire, reason: .activeRest(missingBytes: nil))
    guard isReady else {
      return (Want(position: active, amount: .start, reason: .activeStart(missingBytes: 0)), 0)
    }
    guard isClip(active), list[active].media.count == 1 else { return (all, 0) }
    let slot = list[active].media[0].slot
    let (load, held) = (files[slot].file.load, files[slot].held.prefix)
    guard let bytes = load.bytes, let duration = load.durationMilliseconds, duration > 0 else {
      return (all, 0)
    }
    guard held < bytes, load.timing?.isStartable != false else {
      return (held < bytes ? all : nil, 0)
    }
    // What is under way goes on to its end: to stop it and begin again costs round trips.
    var there = files[slot].held
    for transfer in transfers where transfer.slot == slot && !transfer.isPaused {
      there.insert(transfer.rest.clamped(to: 0..<bytes))
    }
    let coming = there.prefix
    let playing = PlayingClip(
      milestones: load.milestones(duration: duration, bytes: bytes),
      headBytes: load.timing?.headBytes ?? 0, played: playedMilliseconds,
      watched: watchedMilliseconds(active, in: 75), longest: watchedMilliseconds(active, in: 100),
      held: held, coming: coming)
    let isStanding = viewer.playback != .playing
    // A player that has stood for long wants more than was thought.
    let margin =
      2 * network.roundTripMilliseconds + Self.playerBufferMilliseconds
      + (isStanding ? now - viewer.playedAt : 0)
    var wanted = coming
    if let (slack, end) = playing.due(
      within: margin, least: isStanding ? playedMilliseconds + margin : 0, network)
    {
      if slack <= margin { wanted = max(coming, end) } else { wake.at(now + slack - margin, .due) }
    } else if coming < bytes {
      // Whether they stay all the same is asked again when they should have gone.
      wake.at(futures.goodUntil, .due)
    }
    return (
      wanted > held
        ? Want(
          position: active, amount: .bytes(media: 0, 0..<wanted),
          reason: .activeRest(missingBytes: wanted - held)) : nil,
      network.milliseconds(max(0, max(playing.watchedBytes, wanted) - held))
    )
  }

  /// So much of what comes next a player wants to have before it plays, and again where it ran out (Media3's
  /// default).
  static let playerBufferMilliseconds = 1_000

  /// How far the active clip has played.
  private var playedMilliseconds: Int {
    viewer.playedMilliseconds + (viewer.playback == .playing ? now - viewer.playedAt : 0)
  }

  /// How far the active item will have been watched at the most, in so many percent of the futures.
  private func watchedMilliseconds(_ active: Int, in percent: Int) -> Int {
    // In a fling the futures begin where it stops.
    guard let first = futures.visits.first, first.position == active else {
      return now - viewer.activeSince
    }
    let ends = futures.firstEnds
    return max(ends[min(ends.count * percent / 100, ends.count - 1)], now) - viewer.activeSince
  }
}
