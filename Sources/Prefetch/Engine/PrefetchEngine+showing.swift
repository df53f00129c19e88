/// What of the active item is on the screen: a placeholder until its bytes are there and its decoder has had
/// its time.
extension PrefetchEngine {
  mutating func show(_ actions: inout [PrefetchAction], _ wake: inout Wake) {
    guard let active = viewer.active else { return }
    let costs = costs
    noteReadiness(active, costs, &actions)
    for distance in decodedDistances where list.positions.contains(active + distance) {
      let position = active + distance
      noteReadiness(position, costs, &actions)
      if list[position].isReady, list[position].decodesFrom == nil {
        list[position].decodesFrom = now
      }
    }
    guard viewer.showing != .frame else { return }
    if !list[active].isReady, viewer.showing == .nothing {
      let (held, needed, _) = start(of: active, costs)
      countLoader(active)
      return placeholder(active, .bytes(held: held, needed: needed), &actions)
    }
    guard list[active].isReady, let decodesFrom = list[active].decodesFrom else { return }
    let decoding = isClip(active) ? settings.decoderStartMilliseconds : 0
    if now >= decodesFrom + decoding {
      viewer.showing = .frame
      actions.append(
        PrefetchAction(.showFrame(item: list[active].id), .decoded(milliseconds: decoding)))
    } else {
      if viewer.showing == .nothing {
        placeholder(active, .decoded(milliseconds: now - decodesFrom), &actions)
      }
      wake.at(decodesFrom + decoding, .decoding)
    }
  }

  private mutating func placeholder(
    _ position: Int, _ reason: PrefetchReason, _ actions: inout [PrefetchAction]
  ) {
    viewer.showing = .placeholder
    actions.append(PrefetchAction(.showPlaceholder(item: list[position].id), reason))
  }

  /// Which items are decoded: the active one, and those that are about to be.
  private var decodedDistances: ClosedRange<Int> {
    var ahead = settings.decodedAheadItems
    if case .rangeController(let tuning) = policy.strategy {
      ahead = items(of: tuning.reaches(in: rangeMode).display.leading)
    }
    return viewer.direction > 0 ? 0...ahead : -ahead...0
  }

  private mutating func countLoader(_ position: Int) {
    guard !list[position].media.isEmpty else { return }
    if isClip(position) { counts.videoLoaders += 1 } else { counts.imageLoaders += 1 }
  }
}
