import Feed

/// The fixed preload of the short-video challenge of ACM MM 2022 (`quickstart/fix_preload.py` of its
/// program): loads the whole playing clip, then, one at a time, the first seconds of the next `leading`
/// clips, each as far as enough of those who see its beginning still watch.
struct FixedPreloadStrategy: PrefetchStrategy {
  static let name = "fixed-preload"
  static let parameterList = [
    Parameter("leading", 0...100, \.leading), Parameter("seconds", 0...600, \.seconds),
    Parameter("retentionPermille", 0...1_000, \.retentionPermille),
  ]

  var leading = 4
  var seconds = 4
  var retentionPermille = 650

  /// Chooses the smallest variant, since nothing of a clip is held when it begins.
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

  /// The number of seconds that more than `retentionPermille` of a thousand people begin to watch; all if
  /// unknown.
  private func watchedSeconds(_ survival: [WatchPoint]) -> Int {
    (0..<seconds).first { survival.permille(atMilliseconds: $0 * 1_000) <= retentionPermille }
      ?? seconds
  }
}
