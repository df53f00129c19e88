import Feed
import Prefetch

extension MediaTiming {
  /// How a clip of this many bytes plays.
  static func random(_ random: inout some Choices, bytes: Int) -> MediaTiming {
    let head = random.number(0...bytes)
    if random.once(in: 4), head > 0 {
      let ranges = random.once(in: 2) || head < 4 ? [0..<head] : [0..<head / 4, head / 2..<head]
      return MediaTiming(isStartable: false, headBytes: head, neededRanges: ranges)
    }
    var lead: [MediaTiming.Lead] = []
    for step in 0..<random.number(0...4) {
      let least = lead.last?.bytes ?? bytes
      lead.append(
        .init(kilobitsPerSecond: 50 << (2 * step), bytes: random.number(min(head, least)...least)))
    }
    let middle = random.number(head...bytes)
    let curve =
      random.once(in: 2)
      ? []
      : [1_000: middle, 4_000: bytes].sorted { $0.key < $1.key }
        .map { MediaTiming.Point(milliseconds: $0.key, bytes: $0.value) }
    return MediaTiming(headBytes: head, curve: curve, lead: lead)
  }
}
