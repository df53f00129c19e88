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
