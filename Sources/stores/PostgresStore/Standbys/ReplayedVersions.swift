import Catalog

/// The newest catalog version that a server has in full, by its position in the write-ahead log.
///
/// The primary's position is read together with the catalog's data, and not before. So a server at that position has
/// all that the catalog shows.
struct ReplayedVersions: Sendable {
  private struct Step {
    let version: StoreVersion
    let logPosition: Int64
    let noted: ContinuousClock.Instant
  }

  /// Where the primary was when it was read last.
  private(set) var primary: ServerPosition?
  /// Versions with where the primary was, at the latest, when they were read: both rise.
  private var steps: [Step] = []

  /// The number of versions that are kept; a server that is further behind has none of them.
  private static let limit = 4_096

  /// The primary was read, for a version that is yet to be published.
  mutating func note(primary position: ServerPosition) {
    if let primary,
      primary.history != position.history || primary.logPosition > position.logPosition
    {
      // On another line, or after a crash, the same places hold other things.
      steps = []
    }
    primary = position
  }

  /// The version was published: it shows no more than what the primary had when it was read last.
  mutating func note(_ version: StoreVersion, at now: ContinuousClock.Instant) {
    guard let primary, version > steps.last?.version ?? .start else { return }
    if steps.count >= 2 * Self.limit { steps.removeFirst(Self.limit) }
    steps.append(Step(version: version, logPosition: primary.logPosition, noted: now))
  }

  /// The newest version of which the server has everything; `nil` if no known version qualifies.
  func version(at server: ServerPosition) -> StoreVersion? {
    guard server.history == primary?.history else { return nil }
    let index = firstStep(behind: server.logPosition)
    return index == 0 ? nil : steps[index - 1].version
  }

  /// How far the server is behind what was read of the primary, and for how long it has been.
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

/// The timelines on which standbys are known to be.
///
/// A standby names the timeline that it follows as long as it receives from a primary. Afterwards that remains true:
/// until it ends, it replays what comes behind what it has, and moves only to a timeline that begins there.
struct FollowedTimelines: Sendable {
  private var timelines: [String: Int64] = [:]

  /// The maximum number of servers that are remembered.
  private static let limit = 64

  /// The position with the timeline that the server is known to follow, whenever it said so.
  mutating func known(_ position: ServerPosition) -> ServerPosition {
    // Any other server knows which is its own.
    guard position.isStandby else { return position }
    var known = position
    known.history.timeline = max(position.history.timeline, timelines[position.server] ?? 0)
    if timelines[position.server] == nil, timelines.count >= Self.limit { timelines = [:] }
    timelines[position.server] = known.history.timeline
    return known
  }
}
