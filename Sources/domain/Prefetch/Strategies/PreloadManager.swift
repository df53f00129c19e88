/// A preload manager as of Media3 1.11 (`DefaultPreloadManager`): items are ranked by their distance to the one that
/// plays, either side, and loaded one after the other, each to its target: the nearest so long into memory
/// (`specifiedRangeLoaded`), those further away so long into the cache (`specifiedRangeCached`). To this engine memory
/// and cache are one.
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
