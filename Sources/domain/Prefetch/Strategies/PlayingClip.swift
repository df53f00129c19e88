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
  private static let pieceMilliseconds = 3_000
  private static let lastPieceMilliseconds = 1_000

  /// How many bytes play it as far as it will be watched.
  var watchedBytes: Int { bytes(through: watched) }

  /// How long the link may do something else before the clip runs out, and up to where its bytes are then asked for:
  /// a piece beyond what comes already, and all that has to begin to come within the margin, as far as it will be
  /// watched. `nil` where nobody will see more than comes.
  ///
  /// - Parameter least: up to where a player wants it that stands; 0 for one that plays.
  func due(
    within margin: Int, least: Int, _ network: NetworkState
  ) -> (slack: Int, end: Int)? {
    let out = time(through: coming)
    guard out < max(longest, least) else { return nil }
    let piece = min(
      out + Self.pieceMilliseconds, max(longest, out + Self.lastPieceMilliseconds))
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

  private func time(through bytes: Int) -> Int {
    var before = (x: headBytes, y: 0)
    for (at, end) in milestones {
      if end > bytes { return Interpolation.value(at: bytes, from: before, to: (end, at)) }
      before = (end, at)
    }
    return before.y
  }
}
