import Feed
import Prefetch

/// What a feed is made of that nobody recorded. The figures are assumptions, in the range of what was
/// measured of short clips and pictures for phones; not one is fitted to a result.
package struct FeedModel: Hashable, Sendable {
  /// How many of a thousand items are clips; the others are pictures.
  package var videoPermille = 400
  /// The sizes of pictures, in bytes.
  package var imageBytes = quantiles(15_000, 90_000, 280_000, 700_000)
  /// How long clips play, in milliseconds.
  package var videoMilliseconds = quantiles(2_700, 9_200, 18_400, 60_000)
  /// What a second of a clip has, in kilobits; of one clip it varies by a fifth.
  package var videoKbps = quantiles(250, 800, 1_600, 3_500)
  /// What starts a clip, in bytes.
  package var videoHeadBytes = quantiles(8_000, 40_000, 110_000, 250_000)
  /// In which bitrates each clip is to be had, from the best down, in kilobits a second: then all items are clips in
  /// chunks of a second, the first of which starts them, and each has a watch curve. Empty for a feed without.
  package var bitrates: [Int] = []
  /// How many items a page has.
  package var pageItems = 30

  /// The assumptions as they stand.
  package init() {}

  /// The world of the short-video challenge of ACM MM 2022: three bitrates, and seven clips in view.
  package static var challenge: FeedModel {
    var model = FeedModel()
    model.bitrates = [1_850, 1_200, 750]
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

  /// A feed of this many items, at least one: the first ones are the same whatever the count.
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

  /// A clip in several bitrates. A chunk's size varies by a fifth, in all of them alike.
  private func chunked(_ index: Int, _ random: inout LabRandom) -> LabFeed.Item {
    let duration = max(1_000, videoMilliseconds.draw(&random))
    let chunks = (0..<(duration + 999) / 1_000).map { second in
      min(1_000, duration - second * 1_000) * (80 + random.number(below: 41))
    }
    let files = bitrates.map { kbps in
      var (seconds, sum): ([Int], Int) = ([], 0)
      for chunk in chunks {
        sum += kbps * chunk / 800
        seconds.append(sum)
      }
      return LabFile(
        startRanges: [0..<seconds[0]], secondBytes: seconds, durationMilliseconds: duration)
    }
    return LabFeed.Item(
      id: "p\(index)", type: .video, media: [files], survival: Self.retention(duration, &random))
  }

  /// How many still watch: some leave in the first second, the others evenly, and the rest at the end. The shares are
  /// assumptions.
  private static func retention(_ duration: Int, _ random: inout LabRandom) -> [WatchPoint] {
    let first = 950 - random.number(below: 350)
    let last = first * (100 + random.number(below: 600)) / 1_000
    return [
      WatchPoint(milliseconds: min(1_000, duration - 1), permille: first),
      WatchPoint(milliseconds: duration, permille: last),
    ]
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
