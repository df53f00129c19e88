import Feed

/// A media file as it really is, whatever is known about it.
package struct LabFile: Hashable, Sendable {
  /// The size in bytes.
  package let bytes: Int
  /// The ranges that show it: all of a picture; the bytes that the first frame of a clip needs. Ascending and
  /// disjoint.
  package let startRanges: [Range<Int>]
  /// The duration in milliseconds; 0 for a picture.
  package let durationMilliseconds: Int
  /// The number of bytes that play it through each second: never falling, up to the file's size.
  let secondBytes: [Int]
  /// The file as a server describes it, if that was recorded; otherwise the server states the truth.
  let recorded: MediaLoad?
  /// Whether it comes in chunks of a second, each with a request of its own. It then plays up to the last
  /// complete chunk.
  let isChunked: Bool

  /// The maximum size in bytes, `LinkRequest.byteLimit`: more cannot be moved in a run.
  package static let byteLimit = LinkRequest.byteLimit

  /// Creates a picture.
  ///
  /// - Parameter recorded: the picture as a server describes it; `nil` if the server states the truth.
  package init(imageBytes bytes: Int, recorded: MediaLoad? = nil) {
    precondition((0...Self.byteLimit).contains(bytes))
    self.bytes = bytes
    startRanges = bytes > 0 ? [0..<bytes] : []
    durationMilliseconds = 0
    secondBytes = []
    self.recorded = recorded
    isChunked = false
  }

  /// Creates a clip that starts with these bytes, and plays through second n with the first `secondBytes[n]`.
  ///
  /// - Parameter recorded: the clip as a server describes it; `nil` if the server states the truth.
  package init(
    startRanges: [Range<Int>], secondBytes: [Int], durationMilliseconds: Int,
    recorded: MediaLoad? = nil, isChunked: Bool = false
  ) {
    let bytes = secondBytes.last ?? 0
    precondition(
      (0...Self.byteLimit).contains(bytes) && secondBytes.first.map { $0 >= 0 } ?? true
        && zip(secondBytes, secondBytes.dropFirst()).allSatisfy { $0 <= $1 }
        && startRanges.allSatisfy { $0.upperBound <= bytes }
        && secondBytes.count == max(1, (durationMilliseconds + 999) / 1_000))
    self.bytes = bytes
    self.startRanges = startRanges
    self.durationMilliseconds = durationMilliseconds
    self.secondBytes = secondBytes
    self.recorded = recorded
    self.isChunked = isChunked
  }

  /// Whether it is a clip.
  package var isClip: Bool { !secondBytes.isEmpty }

  /// The number of bytes that play it through this time: linear between seconds.
  func bytes(throughMilliseconds time: Int) -> Int {
    guard isClip, time < durationMilliseconds else { return bytes }
    let second = time / 1_000
    let start = startRanges.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0
    let before = second > 0 ? secondBytes[second - 1] : min(start, secondBytes[0])
    let length = min(1_000, durationMilliseconds - second * 1_000)
    return before + (secondBytes[second] - before) * (time % 1_000) / length
  }

  /// The time through which its first bytes play it: the greatest time that needs no more of them.
  func milliseconds(throughBytes bytes: Int) -> Int {
    guard isClip, bytes < self.bytes else { return durationMilliseconds }
    if isChunked { return (secondBytes.firstIndex { $0 > bytes } ?? 0) * 1_000 }
    var (least, most) = (0, durationMilliseconds)
    while most - least > 1 {
      let middle = (least + most) / 2
      if self.bytes(throughMilliseconds: middle) <= bytes { least = middle } else { most = middle }
    }
    return least
  }
}

extension LabFile {
  /// The end of a request that begins at this byte and goes no further than `end`: that of the chunk, if the
  /// file has chunks.
  func requestEnd(from start: Int, to end: Int) -> Int {
    isChunked ? min(end, secondBytes.first { $0 > start } ?? end) : end
  }

  /// The file as described by a server that has looked into it.
  var load: MediaLoad {
    if let recorded { return recorded }
    guard isClip else { return MediaLoad(kind: .image, bytes: bytes) }
    let isStartable = startRanges.count <= 1 && startRanges.first?.lowerBound ?? 0 == 0
    let head = isStartable ? startRanges.first?.upperBound ?? 0 : 0
    return MediaLoad(
      kind: .video, bytes: bytes, durationMilliseconds: durationMilliseconds,
      timing: MediaTiming(
        isStartable: isStartable, headBytes: head, neededRanges: isStartable ? [] : startRanges,
        curve: curve(head), lead: isStartable ? lead(head) : []))
  }

  /// What a client knows of an undescribed file: whether it is a picture or a clip.
  var unknownLoad: MediaLoad { MediaLoad(kind: isClip ? .video : .image) }

  private func curve(_ head: Int) -> [MediaTiming.Point] {
    // A server knows the sizes of chunks.
    let seconds =
      isChunked ? Array(1..<min(secondBytes.count, MediaTiming.rowLimit)) : [1, 2, 3, 5, 10]
    var points = seconds.filter { $0 * 1_000 < durationMilliseconds }
      .map { MediaTiming.Point(milliseconds: $0 * 1_000, bytes: max(head, secondBytes[$0 - 1])) }
    points.append(.init(milliseconds: durationMilliseconds, bytes: bytes))
    return points
  }

  /// The bytes needed at each bandwidth so that playback never stalls: all bytes of each second when it
  /// begins, which is a little more than necessary.
  private func lead(_ head: Int) -> [MediaTiming.Lead] {
    var rows: [MediaTiming.Lead] = []
    for kbps in [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000] {
      var most = head
      for (second, bytes) in secondBytes.enumerated() {
        most = max(most, bytes - second * kbps * 125)
      }
      rows.append(.init(kilobitsPerSecond: kbps, bytes: min(most, bytes)))
    }
    return rows
  }
}

/// A file as a server described it in a recording. Unknown properties are drawn, as for a generated feed; the
/// engine is told no more than the recording has.
extension LabFile {
  /// The maximum duration of a clip: of a longer one, the first four hours are used.
  static let longestMilliseconds = 4 * 3_600_000

  /// - Parameter isKnown: set to false if the size had to be drawn.
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

  /// `bytes * count / whole`. The product of bytes and milliseconds is at most 64 GiB times four hours, below
  /// 2⁶³.
  private static func part(_ bytes: Int, _ count: Int, of whole: Int) -> Int {
    bytes * count / max(1, whole)
  }
}
