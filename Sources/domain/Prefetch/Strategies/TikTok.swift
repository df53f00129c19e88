/// TikTok's app as the authors of Dashlet measured it (NSDI 2023, and `env-interact-tt.py` of their program):
/// a clip's first megabyte is one part, the rest another. The strategy loads the whole playing clip, then,
/// one at a time, the first parts of the next `leading` clips. Clips come in groups: once the first parts of
/// a group are held, nothing is loaded (prebuffer-idle) until the person is at the group's last clip.
struct TikTokStrategy: PrefetchStrategy {
  static let name = "tiktok"
  static let parameterList = [
    Parameter("leading", 0...100, \.leading), Parameter("groupItems", 1...1_000, \.groupItems),
    Parameter("firstBytes", 1...1_000_000_000, \.firstBytes),
  ]

  var leading = 4
  var groupItems = 10
  var firstBytes = 1_024_000

  /// Chooses the variant whose bitrate is nearest to a line in the throughput: 151 kbit/s, and 94 more for
  /// each megabit a second.
  func chooseVariants(_ facts: EngineFacts, active: Int) -> VariantLevel? {
    let positions = facts.next(leading, from: active, with: true)
    guard let rates = facts.variantKbps(active) else { return nil }
    let wanted = 151 + facts.network.downlinkKbps * 94 / 1_000
    let nearest = rates.indices.min { abs(rates[$0] - wanted) < abs(rates[$1] - wanted) }
    return nearest.map { VariantLevel(level: $0, positions: positions) }
  }

  func addWants(_ facts: EngineFacts, active: Int, to wants: inout [Want]) {
    guard facts.isWhole(active) else { return }
    for position in facts.next(leading, from: active) {
      guard isOpen(position, from: active, facts.viewer.direction) else { return }
      for media in 0..<facts.visibleMedia(position) {
        let file = facts.files[facts.list[position].media[media].slot]
        guard let all = file.file.load.bytes, !file.isGone else { continue }
        let end = min(all, firstBytes)
        guard file.there.prefix < end else { continue }
        wants.append(
          Want(
            position: position, amount: .bytes(media: media, 0..<end),
            reason: .near(distance: position - active, bytes: end)))
        return
      }
    }
  }

  /// Whether the item is in the active item's group, or the active item is the last of its group.
  private func isOpen(_ position: Int, from active: Int, _ direction: Int) -> Bool {
    let group = Self.group(active, groupItems)
    return Self.group(position, groupItems) == group
      || Self.group(active + direction, groupItems) != group
  }

  /// Positions above those of the first page are negative.
  private static func group(_ position: Int, _ items: Int) -> Int {
    position >= 0 ? position / items : (position + 1) / items - 1
  }
}
