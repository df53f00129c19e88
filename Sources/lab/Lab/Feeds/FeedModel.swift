import Feed

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

  /// The assumptions as they stand.
  package init() {}

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
        let isVideo = own.chance(permille: videoPermille)
        let file = isVideo ? clip(&own) : LabFile(imageBytes: imageBytes.draw(&own))
        return LabFeed.Item(
          id: "p\(index)", type: isVideo ? .video : .image, media: [[file]])
      })
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
