/// The stages of a preload manager, like Android's (`DefaultPreloadManager` of Media3): some milliseconds of
/// the nearest clips are loaded, and those farther away only as far as a player is prepared.
public struct StageTuning: Hashable, Sendable, Codable {
  /// The amount to load of the nearest items, in milliseconds of playback.
  public var loadedMilliseconds: Int
  /// The distance on either side of the active item up to which that applies.
  public var loadedDistance: Int
  /// The distance on either side up to which items load enough to show their first frame.
  public var preparedDistance: Int

  /// Creates stages of three seconds of the adjacent items, and four prepared items on either side.
  public init() { self.init(loadedMilliseconds: 3_000) }

  /// Creates stages of these extents.
  public init(loadedMilliseconds: Int = 3_000, loadedDistance: Int = 1, preparedDistance: Int = 4) {
    self.loadedMilliseconds = loadedMilliseconds
    self.loadedDistance = loadedDistance
    self.preparedDistance = preparedDistance
  }
}

/// Loads the nearest items first, and at equal distance the one in the direction of the scroll (Media3's
/// ranking).
extension StageTuning: PrefetchStrategy {
  static let name = "stages"
  static let parameterList = [
    Parameter("loadedMilliseconds", 0...600_000, \.loadedMilliseconds),
    Parameter("loadedDistance", 0...100, \.loadedDistance),
    Parameter("preparedDistance", 0...100, \.preparedDistance),
  ]

  var leading: Int { preparedDistance }

  func addWants(_ facts: EngineFacts, active: Int, to wants: inout [Want]) {
    let (positions, direction) = (facts.list.positions, facts.viewer.direction)
    for step in 0..<max(loadedDistance, preparedDistance) {
      for sign in [direction, -direction] {
        let distance = (step + 1) * sign
        guard positions.contains(active + distance) else { continue }
        let milliseconds = step < loadedDistance ? loadedMilliseconds : 0
        wants.append(
          Want(
            position: active + distance, amount: .milliseconds(milliseconds),
            reason: .stage(distance: distance, milliseconds: milliseconds)))
      }
    }
  }
}

extension Policy.Strategy {
  /// A strategy that loads as much of a clip as its distance says.
  public static func stages(_ tuning: StageTuning) -> Self { Self(tuning) }
}
