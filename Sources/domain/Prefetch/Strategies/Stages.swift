/// How far the stages of a preload manager reach, as Android's has them (`DefaultPreloadManager` of Media3):
/// the nearest clips are loaded for so long, those further away only as far as a player is prepared.
public struct StageTuning: Hashable, Sendable, Codable {
  /// How much of the nearest items is loaded, in milliseconds of playback.
  public var loadedMilliseconds: Int
  /// How many items either side of the active one that holds for.
  public var loadedDistance: Int
  /// How many items either side have as much as shows their first frame.
  public var preparedDistance: Int

  /// Three seconds of the item next to the active one, and four items either side prepared.
  public init() { self.init(loadedMilliseconds: 3_000) }

  /// Stages that reach so far.
  public init(loadedMilliseconds: Int = 3_000, loadedDistance: Int = 1, preparedDistance: Int = 4) {
    self.loadedMilliseconds = loadedMilliseconds
    self.loadedDistance = loadedDistance
    self.preparedDistance = preparedDistance
  }
}

/// The nearest items first, of two as near the one in the direction of the scroll (Media3's ranking).
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
  /// So much of a clip as its distance says.
  public static func stages(_ tuning: StageTuning) -> Self { Self(tuning) }
}
