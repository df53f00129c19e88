/// How far the stages of a preload manager reach, as Android's has them (`DefaultPreloadManager` of Media3):
/// the nearest clips are loaded for so long, those further away only as far as a player is prepared.
public struct StageTuning: Hashable, Sendable {
  /// How much of the nearest items is loaded, in milliseconds of playback.
  public var loadedMilliseconds: Int
  /// How many items either side of the active one that holds for.
  public var loadedDistance: Int
  /// How many items either side have as much as shows their first frame.
  public var preparedDistance: Int

  /// Stages that reach so far.
  public init(loadedMilliseconds: Int = 3_000, loadedDistance: Int = 1, preparedDistance: Int = 4) {
    self.loadedMilliseconds = loadedMilliseconds
    self.loadedDistance = loadedDistance
    self.preparedDistance = preparedDistance
  }

  init(_ parameters: inout StrategyParameters) throws(StrategyError) {
    self.init(
      loadedMilliseconds: try parameters.take("loadedMilliseconds", 0...600_000),
      loadedDistance: try parameters.take("loadedDistance", 0...100),
      preparedDistance: try parameters.take("preparedDistance", 0...100))
  }

  var parameters: [(name: String, value: Int)] {
    [
      ("loadedMilliseconds", loadedMilliseconds), ("loadedDistance", loadedDistance),
      ("preparedDistance", preparedDistance),
    ]
  }
}
