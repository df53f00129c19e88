import Catalog

/// Catalog versions by their positions in the write-ahead log, to find the newest one that a server has in
/// full.
///
/// The primary's position is read together with the catalog's data, not before. So a server at that
/// position has everything that the catalog shows.
struct ReplayedVersions: Sendable {
  private struct Step {
    let version: StoreVersion
    let logPosition: Int64
    let noted: ContinuousClock.Instant
  }

  /// The position of the primary at its last read.
  private(set) var primary: ServerPosition?
  /// Versions, each with the latest position that the primary may have had at the read; both ascend.
  private var steps: [Step] = []

  /// The number of versions that are kept; a server that is further behind has none of them.
  private static let limit = 4_096

  /// Records a read of the primary, for a version that is yet to be published.
  mutating func note(primary position: ServerPosition) {
    if let primary,
      primary.history != position.history || primary.logPosition > position.logPosition
    {
      // On another timeline, or after a crash, the same positions hold other data.
      steps = []
    }
    primary = position
  }

  /// Records that the version was published. It shows no more than the primary had at its last read.
  mutating func note(_ version: StoreVersion, at now: ContinuousClock.Instant) {
    guard let primary, version > steps.last?.version ?? .start else { return }
    if steps.count >= 2 * Self.limit { steps.removeFirst(Self.limit) }
    steps.append(Step(version: version, logPosition: primary.logPosition, noted: now))
  }

  /// Returns the newest version of which the server has everything; `nil` if no known version qualifies.
  func version(at server: ServerPosition) -> StoreVersion? {
    guard server.history == primary?.history else { return nil }
    let index = firstStep(behind: server.logPosition)
    return index == 0 ? nil : steps[index - 1].version
  }

  /// Returns how far the server is behind what was read of the primary, and for how long.
  func lag(
    at server: ServerPosition, _ now: ContinuousClock.Instant
  ) -> (bytes: Int64, time: Duration) {
    let bytes = max((primary?.logPosition ?? 0) - server.logPosition, 0)
    let index = firstStep(behind: server.logPosition)
    return (bytes, index < steps.count ? max(now - steps[index].noted, .zero) : .zero)
  }

  private func firstStep(behind logPosition: Int64) -> Int {
    var (low, high) = (0, steps.count)
    while low < high {
      let middle = (low + high) / 2
      if steps[middle].logPosition <= logPosition { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The timelines that standbys are known to follow.
///
/// A standby names the timeline that it follows as long as it receives from a primary. Afterwards that
/// remains true: until the standby ends, it replays what follows what it has, and moves only to a timeline
/// that begins there.
struct FollowedTimelines: Sendable {
  private var timelines: [String: Int64] = [:]

  /// The maximum number of servers that are remembered.
  private static let limit = 64

  /// Returns the position with the timeline that the server is known to follow, whenever it said so.
  mutating func known(_ position: ServerPosition) -> ServerPosition {
    // Any other server knows its own timeline.
    guard position.isStandby else { return position }
    var known = position
    known.history.timeline = max(position.history.timeline, timelines[position.server] ?? 0)
    if timelines[position.server] == nil, timelines.count >= Self.limit { timelines = [:] }
    timelines[position.server] = known.history.timeline
    return known
  }
}
