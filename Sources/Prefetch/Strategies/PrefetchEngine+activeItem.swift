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
    _ tuning: WaitTuning, _ active: Int, _ isReady: Bool, _ costs: HintCosts, _ wake: inout Wake
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
    let (latest, needed) = need(
      of: load.milestones(duration: duration, bytes: bytes), held: held, active)
    guard needed > held else { return (nil, 0) }
    let busy = network.milliseconds(needed - held)
    // What is under way for it goes on to its end: to stop it and begin again costs round trips.
    let running = transfers.first {
      $0.slot == slot && !$0.isPaused && !$0.rest.isEmpty && $0.end <= bytes
    }
    let margin = Self.playingMarginMilliseconds + 2 * network.roundTripMilliseconds
    var end = running?.end ?? 0
    if latest <= margin {
      // In whole chunks, else each byte that arrives would ask for one more; and no more than is watched.
      let chunk = 4 * tuning.stepBytes
      let last = max(16_384, network.bytes(inMilliseconds: Self.lastChunkMilliseconds))
      end = min(
        bytes, (held + 2 * tuning.stepBytes) / chunk * chunk + chunk, (needed / last + 1) * last)
    } else if running == nil {
      wake.at(now + latest - margin, .due)
      return (nil, busy)
    }
    return (
      Want(
        position: active, amount: .bytes(media: 0, 0..<end),
        reason: .activeRest(missingBytes: max(0, end - held))), busy
    )
  }

  /// So long before a clip would stall its next bytes are asked for, beside two round trips.
  private static let playingMarginMilliseconds = 750
  /// What is asked for last may go beyond what is watched by so much of the link's time.
  private static let lastChunkMilliseconds = 500

  /// How long the link may do something else before the clip that plays stalls, and up to where its bytes are
  /// needed: as far as it will be watched.
  private func need(
    of milestones: [(time: Int, end: Int)], held: Int, _ active: Int
  ) -> (latest: Int, needed: Int) {
    let played =
      viewer.playedMilliseconds + (viewer.playback == .playing ? now - viewer.playedAt : 0)
    let watched = watchedMilliseconds(active)
    var (latest, needed) = (Int.max, held)
    var before = (time: 0, end: 0)
    for (time, end) in milestones {
      defer { before = (time, end) }
      guard end > held else { continue }
      if needed == held {
        // Where what is there runs out, between two points.
        latest =
          Interpolation.value(at: held, from: (before.end, before.time), to: (end, time)) - played
      }
      latest = min(latest, time - played - network.milliseconds(end - held))
      needed = end
      if time >= watched {
        // No further than they watch.
        needed = max(
          held, Interpolation.value(at: watched, from: (before.time, before.end), to: (time, end)))
        break
      }
    }
    return (latest, needed)
  }

  /// How far the active item will have been watched in three of four futures.
  private func watchedMilliseconds(_ active: Int) -> Int {
    let ends = (0..<futures.count).map { future in
      let visit = futures.visits[futures.starts[future]]
      return visit.position == active ? visit.at + visit.dwell : visit.at
    }
    .sorted()
    guard !ends.isEmpty else { return 0 }
    return max(ends[ends.count * 3 / 4], now) - viewer.activeSince
  }
}

/// Straight lines between points, in whole numbers.
enum Interpolation {
  /// What belongs to `x` on the line from one point to another, rounded up; at its ends beyond them.
  static func value(at x: Int, from: (x: Int, y: Int), to: (x: Int, y: Int)) -> Int {
    guard x > from.x else { return from.y }
    guard x < to.x, to.y > from.y else { return to.y }
    let (span, part) = (UInt(to.x - from.x), UInt(x - from.x))
    let (quotient, rest) = span.dividingFullWidth(part.multipliedFullWidth(by: UInt(to.y - from.y)))
    return from.y + Int(quotient) + (rest > 0 ? 1 : 0)
  }
}

extension MediaLoad {
  /// By when which bytes are needed: the curve, or where there is none, a straight line.
  fileprivate func milestones(duration: Int, bytes: Int) -> [(time: Int, end: Int)] {
    guard let curve = timing?.curve, !curve.isEmpty else {
      return (1...8).map { (duration * $0 / 8, bytes / 8 * $0 + ($0 == 8 ? bytes % 8 : 0)) }
    }
    return curve.map { ($0.milliseconds, $0.bytes) } + [
      (max(duration, curve.last!.milliseconds), bytes)
    ]
  }
}
