/// A preload manager as of Media3 1.11 (`DefaultPreloadManager`): ranks items by their distance to the
/// playing one, on either side, and loads one after the other, each to its target: some milliseconds of the
/// nearest into memory (`specifiedRangeLoaded`), some of those farther away into the cache
/// (`specifiedRangeCached`). Memory and cache are one in this engine.
struct PreloadManagerStrategy: PrefetchStrategy {
  static let name = "preload-manager"
  static let parameterList = [
    Parameter("loadedMilliseconds", 0...600_000, \.loadedMilliseconds),
    Parameter("loadedDistance", 0...100, \.loadedDistance),
    Parameter("cachedMilliseconds", 0...600_000, \.cachedMilliseconds),
    Parameter("cachedDistance", 0...100, \.cachedDistance),
  ]

  var loadedMilliseconds = 3_000
  var loadedDistance = 1
  var cachedMilliseconds = 1_000
  var cachedDistance = 4

  var leading: Int { max(loadedDistance, cachedDistance) }

  func addWants(_ facts: EngineFacts, active: Int, to wants: inout [Want]) {
    for step in 0..<leading {
      for sign in [facts.viewer.direction, -facts.viewer.direction] {
        let distance = (step + 1) * sign
        guard facts.list.positions.contains(active + distance) else { continue }
        let milliseconds = step < loadedDistance ? loadedMilliseconds : cachedMilliseconds
        wants.append(
          Want(
            position: active + distance, amount: .milliseconds(milliseconds),
            reason: .stage(distance: distance, milliseconds: milliseconds)))
        guard facts.isHeld(active + distance, milliseconds: milliseconds) else { return }
      }
    }
  }
}
