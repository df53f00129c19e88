import Feed

/// A file of which somebody recorded what a server tells. What that leaves open is drawn, as for a feed that is
/// made up; the engine is told no more than the record has.
extension LabFile {
  /// No clip is longer: of one that is, its first four hours.
  static let longestMilliseconds = 4 * 3_600_000

  /// - Parameter isKnown: set to false where a size had to be drawn.
  init(
    _ load: MediaLoad, _ model: FeedModel, random: inout LabRandom, isKnown: inout Bool
  ) {
    if load.bytes == nil { isKnown = false }
    guard load.kind.plays else {
      let drawn = model.imageBytes.draw(&random)
      self.init(imageBytes: Self.size(load.bytes) ?? drawn, recorded: load)
      return
    }
    let drawn = (
      duration: model.videoMilliseconds.draw(&random), kbps: model.videoKbps.draw(&random),
      head: model.videoHeadBytes.draw(&random)
    )
    let duration = min(load.durationMilliseconds ?? drawn.duration, Self.longestMilliseconds)
    let bytes = Self.size(load.bytes) ?? drawn.kbps * duration / 8
    let timing = load.timing
    var starts = [0..<min(timing?.headBytes ?? drawn.head, bytes)]
    if let timing, !timing.isStartable {
      starts = timing.neededRanges.map { min($0.lowerBound, bytes)..<min($0.upperBound, bytes) }
    }
    var points = [(milliseconds: 0, bytes: starts[0].lowerBound == 0 ? starts[0].upperBound : 0)]
    points += (timing?.curve ?? []).map { (milliseconds: $0.milliseconds, bytes: $0.bytes) }
      .filter { $0.milliseconds > 0 && $0.milliseconds < duration }
    points.append((milliseconds: max(1, duration), bytes: bytes))
    var (seconds, place) = ([Int](), 0)
    for second in 1...max(1, (duration + 999) / 1_000) {
      let time = min(second * 1_000, points[points.count - 1].milliseconds)
      while points[place + 1].milliseconds < time { place += 1 }
      let (low, high) = (points[place], points[place + 1])
      let width = high.milliseconds - low.milliseconds
      let more = Self.part(high.bytes - low.bytes, time - low.milliseconds, of: width)
      seconds.append(min(max(low.bytes + more, seconds.last ?? 0), bytes))
    }
    self.init(
      startRanges: starts.filter { !$0.isEmpty }, secondBytes: seconds,
      durationMilliseconds: duration, recorded: load)
  }

  private static func size(_ bytes: Int?) -> Int? {
    bytes.map { min(max($0, 0), byteLimit) }
  }

  /// So many of so many: at most 64 GiB times four hours, which is below 2⁶³.
  private static func part(_ bytes: Int, _ count: Int, of whole: Int) -> Int {
    bytes * count / max(1, whole)
  }
}
