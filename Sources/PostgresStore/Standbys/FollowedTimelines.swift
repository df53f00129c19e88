/// On which timelines standbys are known to be.
///
/// One that follows a timeline says so as long as it receives from a primary. Afterwards that is no less true: until it
/// ends, it replays what comes behind what it has, and goes to no timeline but one that begins there.
struct FollowedTimelines: Sendable {
  private var timelines: [String: Int64] = [:]

  /// So many servers are remembered.
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
