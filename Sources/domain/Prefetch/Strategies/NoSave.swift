/// The baseline "no save" of the short-video challenge of ACM MM 2022 (`baseline/no_save.py` of its program):
/// loads the whole playing clip, then the next `leading` clips in turn, a number of bytes of each, until all
/// of them are held.
struct NoSaveStrategy: PrefetchStrategy {
  static let name = "no-save"
  static let parameterList = [
    Parameter("leading", 0...100, \.leading), Parameter("bytes", 1...1_000_000_000, \.bytes),
  ]

  var leading = 4
  var bytes = 800_000

  /// Chooses the best variant that the measured bandwidth carries, or else the smallest.
  func chooseVariants(_ facts: EngineFacts, active: Int) -> VariantLevel? {
    let positions = facts.next(leading, from: active, with: true)
    guard let slots = facts.list[active].media.first?.slots, slots.count > 1 else { return nil }
    let level = slots.firstIndex { slot in
      let load = facts.files[slot].file.load
      guard let bytes = load.bytes, let duration = load.durationMilliseconds, duration > 0 else {
        return true
      }
      // Bits a millisecond are kilobits a second.
      let (bits, overflow) = bytes.multipliedReportingOverflow(by: 8)
      return !overflow && bits / duration <= facts.network.downlinkKbps
    }
    return VariantLevel(level: level ?? slots.count - 1, positions: positions)
  }

  func addWants(_ facts: EngineFacts, active: Int, to wants: inout [Want]) {
    guard facts.isWhole(active) else { return }
    // The round of `bytes` bytes that each clip is in; in the same round, the nearest clip is next.
    var best: (round: Int, position: Int, media: Int, end: Int)?
    for position in facts.next(leading, from: active) where !facts.isWhole(position) {
      for media in 0..<facts.visibleMedia(position) {
        let file = facts.files[facts.list[position].media[media].slot]
        guard let all = file.file.load.bytes, !file.isGone, file.there.prefix < all else {
          continue
        }
        let round = file.there.prefix / bytes
        guard round < best?.round ?? .max else { continue }
        // The end of the round, unless the file ends before: so the product stays within the file's size.
        let end = all - round * bytes > bytes ? (round + 1) * bytes : all
        best = (round, position, media, end)
      }
    }
    guard let best else { return }
    wants.append(
      Want(
        position: best.position, amount: .bytes(media: best.media, 0..<best.end),
        reason: .near(distance: best.position - active, bytes: best.end)))
  }
}
