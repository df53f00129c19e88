/// The counts of one run.
package struct RunFigures: Hashable, Sendable {
  /// The number of looks at items.
  package internal(set) var viewedItems = 0
  /// The number of these at pictures that were not loaded.
  package internal(set) var imageLoaders = 0
  /// The number of these at clips without the bytes that start them.
  package internal(set) var videoLoaders = 0
  /// The number of these at items whose page was not loaded.
  package internal(set) var pageLoaders = 0
  /// The viewer's wait at each item that was not loaded, in milliseconds, ascending; no longer than the
  /// viewer stayed.
  package internal(set) var waitsMilliseconds: [Int] = []
  /// The number of clips that the viewer waited for, that stood at their first frame, or that stalled.
  package internal(set) var stalledClips = 0
  /// The number of times that a clip stopped after it had started.
  package internal(set) var stalls = 0
  /// The total duration of these stalls.
  var stalledMicroseconds = 0
  /// The total time for which clips stood at their first frame before they moved, without the decoder's
  /// start.
  var standingMicroseconds = 0
  /// The total time from the viewer's arrival at an item until the client showed its first frame.
  var frameMicroseconds = 0
  /// The total time for which the viewer waited.
  var waitedMicroseconds = 0
  /// The total playing time of clips, and the kilobits played by the mean bitrates of their files.
  package internal(set) var playedMilliseconds = 0
  var playedKilobits = 0.0
  /// The total change of the bitrate from each clip that played to the next.
  package internal(set) var switchedKilobitsPerSecond = 0
  /// The number of bytes of media that arrived.
  package internal(set) var fetchedBytes = 0
  /// The number of these that the viewer did not see: of items never viewed, or beyond what was watched.
  package internal(set) var wastedBytes = 0
  /// The number of requests for media and pages.
  package internal(set) var requests = 0
  /// The number of these for pages of the feed.
  package internal(set) var pages = 0
  /// The number of requests that timed out.
  package internal(set) var timeouts = 0
  /// The number of events that the engine handled.
  package internal(set) var events = 0
  /// The duration of the run on its own clock.
  package internal(set) var milliseconds = 0

  /// The number of loaders of any kind.
  package var loaders: Int { imageLoaders + videoLoaders + pageLoaders }
  /// The total time for which the viewer waited.
  package var waitedMilliseconds: Int { waitedMicroseconds / 1_000 }
  /// The total time for which clips stood: at their first frame, and in stalls.
  package var standingMilliseconds: Int { standingMicroseconds / 1_000 }
  package var stalledMilliseconds: Int { stalledMicroseconds / 1_000 }
  /// The total time that the viewer lost: waiting, standing at first frames, and stalls.
  package var delayMilliseconds: Int {
    (waitedMicroseconds + standingMicroseconds + stalledMicroseconds) / 1_000
  }

  /// All figures in a line.
  package var words: String {
    """
    \(viewedItems) items viewed: \(loaders) loaders (\(imageLoaders) on images, \(videoLoaders) on \
    videos, \(pageLoaders) because of a missing page), \(waitedMilliseconds) ms of waiting, \
    \(standingMilliseconds) ms of standing at first frames; \(stalls) stalls, \
    \(stalledMilliseconds) ms; \(fetchedBytes) bytes received, \(wastedBytes) wasted; \(requests) \
    requests, \(timeouts) timed out
    """
  }

  /// The measures of tables and comparisons. Less is better, unless a measure says otherwise.
  package enum Measure: String, CaseIterable, Sendable {
    /// Loader impressions per 1000 viewed items: all, on pictures, on clips, because of a missing page.
    case loaders, imageLoaders, videoLoaders, pageLoaders
    /// Milliseconds of the viewer's time per viewed item: waiting, standing at the first frame, stalls.
    case delayMilliseconds
    /// Milliseconds of waiting: per viewed item, and the values that 50 and 95 % of the viewed items did not
    /// exceed.
    case waitMilliseconds, waitP50Milliseconds, waitP95Milliseconds
    /// Viewed items per 1000 with a longer wait than this: the distribution of waits.
    case waitsOver100Milliseconds, waitsOver250Milliseconds, waitsOver500Milliseconds
    case waitsOver1000Milliseconds, waitsOver2500Milliseconds, waitsOver5000Milliseconds
    /// Stalls of clips that had moved, per 1000 viewed items.
    case stalls
    /// Milliseconds per viewed item: in these stalls, and at first frames before the clip moved.
    case stalledMilliseconds, standingMilliseconds
    /// Milliseconds per viewed item until its first frame is shown, including the decoder's time.
    case frameMilliseconds
    /// Kilobytes (1000 bytes) of media that arrived, per viewed item.
    case kilobytes
    /// The percentage of these that the viewer did not see.
    case wastedPercent
    /// Requests per 1000 viewed items.
    case requests
    /// Clips that were waited for, stood or stalled, per 1000 viewed items, and megabytes that were not seen,
    /// per seven.
    case stalledClips, wastedMegabytes
    /// The mean bitrate of what was watched, and its change per viewed item, in kilobits a second. More of
    /// the first is better.
    case bitrateKilobitsPerSecond, switchedKilobitsPerSecond
    /// Quality of experience per seven viewed items, by the formulas of `RunFigures.challengePoints` and
    /// `yinPoints`. More is better.
    case challengePoints, yinPoints

    /// The least deviation to assume: that of one piece more in a run of this many items, for measures that
    /// count pieces. Equal counts in all runs do not prove that others will be equal.
    func leastDeviation(items: Int) -> Double {
      switch self {
      case .loaders, .imageLoaders, .videoLoaders, .pageLoaders, .stalls, .stalledClips, .requests,
        .waitsOver100Milliseconds, .waitsOver250Milliseconds, .waitsOver500Milliseconds,
        .waitsOver1000Milliseconds, .waitsOver2500Milliseconds, .waitsOver5000Milliseconds:
        1_000 / Double(max(1, items))
      case .delayMilliseconds, .waitMilliseconds, .waitP50Milliseconds, .waitP95Milliseconds,
        .stalledMilliseconds, .standingMilliseconds, .frameMilliseconds, .kilobytes, .wastedPercent,
        .wastedMegabytes, .bitrateKilobitsPerSecond, .switchedKilobitsPerSecond, .challengePoints,
        .yinPoints:
        0
      }
    }
  }

  /// The value of a measure.
  package func value(_ measure: Measure) -> Double {
    switch measure {
    case .loaders: perThousand(loaders)
    case .imageLoaders: perThousand(imageLoaders)
    case .videoLoaders: perThousand(videoLoaders)
    case .pageLoaders: perThousand(pageLoaders)
    case .waitMilliseconds: perThousand(waitedMilliseconds) / 1_000
    case .waitP50Milliseconds: Double(wait(percentile: 50))
    case .waitP95Milliseconds: Double(wait(percentile: 95))
    case .waitsOver100Milliseconds: perThousand(waits(over: 100))
    case .waitsOver250Milliseconds: perThousand(waits(over: 250))
    case .waitsOver500Milliseconds: perThousand(waits(over: 500))
    case .waitsOver1000Milliseconds: perThousand(waits(over: 1_000))
    case .waitsOver2500Milliseconds: perThousand(waits(over: 2_500))
    case .waitsOver5000Milliseconds: perThousand(waits(over: 5_000))
    case .stalls: perThousand(stalls)
    case .stalledMilliseconds: perThousand(stalledMilliseconds) / 1_000
    case .standingMilliseconds: perThousand(standingMilliseconds) / 1_000
    case .frameMilliseconds: perThousand(frameMicroseconds) / 1_000_000
    case .delayMilliseconds: perThousand(delayMilliseconds) / 1_000
    case .kilobytes: perThousand(fetchedBytes) / 1_000_000
    case .wastedPercent: Double(wastedBytes) * 100 / Double(max(1, fetchedBytes))
    case .requests: perThousand(requests)
    case .bitrateKilobitsPerSecond: playedKilobits * 1_000 / Double(max(1, playedMilliseconds))
    case .switchedKilobitsPerSecond: perThousand(switchedKilobitsPerSecond) / 1_000
    case .stalledClips: perThousand(stalledClips)
    case .wastedMegabytes: perSession(Double(wastedBytes) / 1e6)
    case .challengePoints: challengePoints
    case .yinPoints: yinPoints
    }
  }

  /// The number of items of a session, as in the challenge.
  private static let sessionItems = 7.0

  /// The formula of the short-video challenge of ACM MM 2022 (Zuo et al., "Bandwidth-Efficient Multi-video
  /// Prefetching for Short Video Streaming", 2022), as read here: a thousandth of the bitrate in kilobits a
  /// second for each second watched, minus 1.85 for each second of delay, a thousandth of each change of the
  /// bitrate, and half of each megabit that arrived; per seven items.
  private var challengePoints: Double {
    let megabits = Double(fetchedBytes) * 8 / 1e6
    return perSession(quality - 1.85 * Double(delayMilliseconds) / 1_000 - switches - megabits / 2)
  }

  /// The formula of Yin et al. ("A Control-Theoretic Approach for Dynamic Adaptive Video Streaming over
  /// HTTP", SIGCOMM 2015) with its balanced weights, 1 for changes, and 3000 kbit/s for each second of
  /// rebuffering or start-up, in megabits a second; per seven items.
  private var yinPoints: Double {
    perSession(quality - switches - 3 * Double(delayMilliseconds) / 1_000)
  }

  private var quality: Double { playedKilobits / 1_000 }
  private var switches: Double { Double(switchedKilobitsPerSecond) / 1_000 }

  private func perSession(_ points: Double) -> Double {
    points * Self.sessionItems / Double(max(1, viewedItems))
  }

  private func waits(over milliseconds: Int) -> Int {
    waitsMilliseconds.count - waitsMilliseconds.count { $0 <= milliseconds }
  }

  private func perThousand(_ count: Int) -> Double {
    Double(count) * 1_000 / Double(max(1, viewedItems))
  }

  /// The wait that this percentage of the viewed items did not exceed, in milliseconds.
  package func wait(percentile: Int) -> Int {
    let place = (viewedItems * percentile + 99) / 100 - 1 - (viewedItems - waitsMilliseconds.count)
    return place < 0 || waitsMilliseconds.isEmpty
      ? 0 : waitsMilliseconds[min(place, waitsMilliseconds.count - 1)]
  }
}
