import Feed

/// The fixed preload of the short-video challenge of ACM MM 2022 (`quickstart/fix_preload.py` of its program): the clip
/// that plays, whole; then, one after the other, the first seconds of the next `leading` clips, each as far as enough
/// of those who see its beginning still watch.
struct FixedPreloadStrategy: PrefetchStrategy {
  static let name = "fixed-preload"
  static let parameterList = [
    Parameter("leading", 0...100, \.leading), Parameter("seconds", 0...600, \.seconds),
    Parameter("retentionPermille", 0...1_000, \.retentionPermille),
  ]

  var leading = 4
  var seconds = 4
  var retentionPermille = 650

  /// It begins each clip with the smallest variant, since it has nothing of it.
  func chooseVariants(_ facts: EngineFacts, active: Int) -> VariantLevel? {
    VariantLevel(level: .max, positions: facts.next(leading, from: active, with: true))
  }

  func addWants(_ facts: EngineFacts, active: Int, to wants: inout [Want]) {
    guard facts.isWhole(active) else { return }
    for position in facts.next(leading, from: active) {
      let milliseconds = watchedSeconds(facts.list[position].survival) * 1_000
      guard milliseconds > 0 else { continue }
      wants.append(
        Want(
          position: position, amount: .milliseconds(milliseconds),
          reason: .stage(distance: position - active, milliseconds: milliseconds)))
      guard facts.isHeld(position, milliseconds: milliseconds) else { return }
    }
  }

  /// How many seconds more than `retentionPermille` of a thousand begin to watch; all where nothing says so.
  private func watchedSeconds(_ survival: [WatchPoint]) -> Int {
    (0..<seconds).first { survival.permille(atMilliseconds: $0 * 1_000) <= retentionPermille }
      ?? seconds
  }
}

extension [WatchPoint] {
  /// How many of a thousand still watch, straight between the points.
  fileprivate func permille(atMilliseconds time: Int) -> Int {
    var before = WatchPoint(milliseconds: 0, permille: 1_000)
    for point in self {
      if point.milliseconds >= time {
        let span = Swift.max(1, point.milliseconds - before.milliseconds)
        return before.permille
          - (before.permille - point.permille) * (time - before.milliseconds) / span
      }
      before = point
    }
    return before.permille
  }
}

/// What strategies that load one item after the other ask of the facts.
extension EngineFacts {
  /// The next items in the direction of the scroll, the nearest first; with the active one before them where that is
  /// wanted.
  func next(_ count: Int, from active: Int, with includesActive: Bool = false) -> [Int] {
    ((includesActive ? 0 : 1)..<(count + 1)).map { active + $0 * viewer.direction }
      .filter { list.positions.contains($0) }
  }

  /// Whether all bytes of the item are held, as far as its sizes are known.
  func isWhole(_ position: Int) -> Bool {
    list[position].media.allSatisfy { media in
      let file = files[media.slot]
      guard let bytes = file.file.load.bytes else { return list[position].isReady }
      return file.isGone || file.held.prefix >= bytes
    }
  }

  /// Whether so much playback of the item is held: of a picture all of it; what cannot be told counts as held.
  func isHeld(_ position: Int, milliseconds: Int) -> Bool {
    list[position].media.prefix(visibleMedia(position)).allSatisfy { media in
      let file = files[media.slot]
      guard let all = file.file.load.bytes, !file.isGone else { return true }
      let wanted = file.file.load.kind.plays ? file.file.load.bytes(playing: milliseconds) : all
      return file.held.prefix >= min(wanted ?? 0, all)
    }
  }
}
