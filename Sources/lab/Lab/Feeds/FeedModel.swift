import Feed
import Prefetch

/// The parameters of a generated feed. The figures are assumptions, in the range of measurements of short
/// clips and pictures for phones; none is fitted to a result.
package struct FeedModel: Hashable, Sendable {
  /// The number of clips in a thousand items; the others are pictures.
  package var videoPermille = 400
  /// The sizes of pictures in bytes.
  package var imageBytes = quantiles(15_000, 90_000, 280_000, 700_000)
  /// The durations of clips in milliseconds.
  package var videoMilliseconds = quantiles(2_700, 9_200, 18_400, 60_000)
  /// The bitrates of clips in kilobits a second; within a clip they vary by a fifth.
  package var videoKbps = quantiles(250, 800, 1_600, 3_500)
  /// The number of bytes that start a clip.
  package var videoHeadBytes = quantiles(8_000, 40_000, 110_000, 250_000)
  /// The bitrates in which each clip is available, from the best down, in kilobits a second. With these, all
  /// items are clips of whole seconds, the first of which starts them, and each has a watch curve. Empty for
  /// a feed without variants.
  package var bitrates: [Int] = []
  /// Whether these clips come in chunks of a second, each with a request of its own.
  package var isChunked = false
  /// The number of items of a page.
  package var pageItems = 30

  /// Creates the default assumptions.
  package init() {}

  /// The feed of the short-video challenge of ACM MM 2022: three bitrates, and seven clips in view.
  package static var challenge: FeedModel {
    var model = FeedModel()
    model.bitrates = [1_850, 1_200, 750]
    model.isChunked = true
    model.videoMilliseconds = quantiles(7_000, 30_000, 48_000, 120_000)
    model.pageItems = 7
    return model
  }

  private static func quantiles(_ least: Int, _ middle: Int, _ high: Int, _ most: Int) -> Quantiles
  {
    Quantiles([
      .init(permille: 0, value: least), .init(permille: 500, value: middle),
      .init(permille: 900, value: high), .init(permille: 1_000, value: most),
    ])!
  }

  /// Generates a feed of this many items, at least one. The first items are the same for any count.
  package func feed(count: Int, random: LabRandom) -> LabFeed {
    LabFeed(
      (0..<count).map { index in
        var own = random.split(UInt64(index))
        if !bitrates.isEmpty { return chunked(index, &own) }
        let isVideo = own.chance(permille: videoPermille)
        let file = isVideo ? clip(&own) : LabFile(imageBytes: imageBytes.draw(&own))
        return LabFeed.Item(
          id: "p\(index)", type: isVideo ? .video : .image, media: [[file]])
      }, pageItems: pageItems)
  }

  /// Generates a clip of whole seconds in several bitrates. The sizes of chunks vary by a half, alike in all
  /// bitrates.
  private func chunked(_ index: Int, _ random: inout LabRandom) -> LabFeed.Item {
    let duration = max(1, videoMilliseconds.draw(&random) / 1_000) * 1_000
    let chunks = (0..<duration / 1_000).map { _ in
      1_000 * (50 + random.number(below: 101))
    }
    let files = bitrates.map { kbps in
      var (seconds, sum): ([Int], Int) = ([], 0)
      for chunk in chunks {
        sum += kbps * chunk / 800
        seconds.append(sum)
      }
      return LabFile(
        startRanges: [0..<seconds[0]], secondBytes: seconds, durationMilliseconds: duration,
        isChunked: isChunked)
    }
    return LabFeed.Item(
      id: "p\(index)", type: .video, media: [files], survival: Self.retention(duration, &random))
  }

  /// Generates a watch curve. Few viewers leave in the first second. Of the others, one part leaves by some
  /// share each second, so that most of them leave soon, and the rest leaves slowly. The shares are
  /// assumptions, in the range of the challenge's own curves.
  private static func retention(_ duration: Int, _ random: inout LabRandom) -> [WatchPoint] {
    let first = (980 - random.number(below: 100)) * 1_000
    var slow = first * (50 + random.number(below: 400)) / 1_000
    var soon = first - slow
    let share = 60 + random.number(below: 200)
    var points = [WatchPoint(milliseconds: 1_000, permille: first / 1_000)]
    for second in 1..<max(2, duration / 1_000) {
      soon -= soon * share / 1_000
      slow -= slow * 12 / 1_000
      guard second < 8 || second % 4 == 0 || second + 1 == duration / 1_000 else { continue }
      points.append(
        WatchPoint(milliseconds: (second + 1) * 1_000, permille: (soon + slow) / 1_000))
    }
    return points.filter { $0.milliseconds <= duration }
  }

  private func clip(_ random: inout LabRandom) -> LabFile {
    let duration = videoMilliseconds.draw(&random)
    let (kbps, head) = (videoKbps.draw(&random), videoHeadBytes.draw(&random))
    var (seconds, sum): ([Int], Int) = ([], 0)
    for second in 0..<max(1, (duration + 999) / 1_000) {
      let milliseconds = min(1_000, duration - second * 1_000)
      sum += kbps * milliseconds * (80 + random.number(below: 41)) / 800
      seconds.append(max(sum, head))
    }
    return LabFile(startRanges: [0..<head], secondBytes: seconds, durationMilliseconds: duration)
  }
}
