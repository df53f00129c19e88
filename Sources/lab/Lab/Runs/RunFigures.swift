/// What one run counted.
package struct RunFigures: Hashable, Sendable {
  /// Items that the viewer looked at, each time.
  package internal(set) var viewedItems = 0
  /// Of these, pictures that were not there.
  package internal(set) var imageLoaders = 0
  /// Of these, clips short of what starts them.
  package internal(set) var videoLoaders = 0
  /// Of these, items whose page was not there.
  package internal(set) var pageLoaders = 0
  /// How long the viewer waited at each item that was not there, in milliseconds, rising; no longer than the
  /// viewer stayed.
  package internal(set) var waitsMilliseconds: [Int] = []
  /// Clips that the viewer waited for, that stood at their first frame, or that stopped.
  package internal(set) var stalledClips = 0
  /// How often a clip stopped after it had started.
  package internal(set) var stalls = 0
  /// How long they stood then.
  var stalledMicroseconds = 0
  /// How long clips stood at their first frame before they moved, the decoder's start not counted.
  var standingMicroseconds = 0
  /// How long it took from where the viewer came to an item until the client showed its first frame, together.
  var frameMicroseconds = 0
  /// How long the viewer waited, together.
  var waitedMicroseconds = 0
  /// How long clips played, and how many kilobits that was by the mean bitrates of their files.
  package internal(set) var playedMilliseconds = 0
  var playedKilobits = 0.0
  /// By how many kilobits a second the bitrate changed from one clip that played to the next, together.
  package internal(set) var switchedKilobitsPerSecond = 0
  /// Bytes of media that came.
  package internal(set) var fetchedBytes = 0
  /// Of these, bytes that the viewer did not look at: of items never viewed, or beyond what was watched.
  package internal(set) var wastedBytes = 0
  /// Requests for media and pages.
  package internal(set) var requests = 0
  /// Of these, for pages of the feed.
  package internal(set) var pages = 0
  /// Requests of which nothing came for too long.
  package internal(set) var timeouts = 0
  /// Times that the engine was asked.
  package internal(set) var events = 0
  /// How long the run took on its own clock.
  package internal(set) var milliseconds = 0

  /// Loader impressions of any kind.
  package var loaders: Int { imageLoaders + videoLoaders + pageLoaders }
  /// How long the viewer waited in all.
  package var waitedMilliseconds: Int { waitedMicroseconds / 1_000 }
  /// How long clips stood in all: at their first frame, and in stalls.
  package var standingMilliseconds: Int { standingMicroseconds / 1_000 }
  package var stalledMilliseconds: Int { stalledMicroseconds / 1_000 }
  /// What the viewer lost in all: waiting, standing at first frames, and stalls.
  package var delayMilliseconds: Int {
    (waitedMicroseconds + standingMicroseconds + stalledMicroseconds) / 1_000
  }

  /// All of it in a line.
  package var words: String {
    """
    \(viewedItems) items viewed: \(loaders) loaders (\(imageLoaders) on images, \(videoLoaders) on \
    videos, \(pageLoaders) because of a missing page), \(waitedMilliseconds) ms of waiting, \
    \(standingMilliseconds) ms of standing at first frames; \(stalls) stalls, \
    \(stalledMilliseconds) ms; \(fetchedBytes) bytes received, \(wastedBytes) wasted; \(requests) \
    requests, \(timeouts) timed out
    """
  }

  /// What tables and comparisons are about. Of all of them less is better.
  package enum Measure: String, CaseIterable, Sendable {
    /// Loader impressions per 1000 viewed items: all, on pictures, on clips, for want of their page.
    case loaders, imageLoaders, videoLoaders, pageLoaders
    /// Milliseconds of the viewer's time per viewed item: waiting, standing at the first frame, stalls.
    case delayMilliseconds
    /// Milliseconds of waiting: per viewed item, and what half and 95 of a hundred viewed items did not exceed.
    case waitMilliseconds, waitP50Milliseconds, waitP95Milliseconds
    /// Viewed items per 1000 that were waited for longer than this: the distribution of waits.
    case waitsOver100Milliseconds, waitsOver250Milliseconds, waitsOver500Milliseconds
    case waitsOver1000Milliseconds, waitsOver2500Milliseconds, waitsOver5000Milliseconds
    /// Stops of clips that had moved, per 1000 viewed items.
    case stalls
    /// Milliseconds per viewed item: of these stops, and at first frames before the clip moved.
    case stalledMilliseconds, standingMilliseconds
    /// Milliseconds per viewed item until its first frame is shown, the decoder's time with it.
    case frameMilliseconds
    /// Bytes of media that came, per viewed item, in kilobytes (1000).
    case kilobytes
    /// The share of these that the viewer did not look at, in percent.
    case wastedPercent
    /// Requests per 1000 viewed items.
    case requests
    /// Clips that were waited for, stood or stopped, per 1000 viewed items, and megabytes that were not looked at, per
    /// seven.
    case stalledClips, wastedMegabytes
    /// The mean bitrate of what was watched, and by how much it changed per viewed item, in kilobits a second. Of the
    /// first more is better.
    case bitrateKilobitsPerSecond, switchedKilobitsPerSecond
    /// Quality of experience per seven viewed items, by the formulas of `RunFigures.challengePoints` and
    /// `yinPoints`. More is better.
    case challengePoints, yinPoints

    /// What one piece more in a run of this many items is, of what is counted in pieces: runs that all count the
    /// same are no proof that others will.
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

  /// A measure of it.
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

  /// The items of a session, as in the challenge.
  private static let sessionItems = 7.0

  /// The formula of the short-video challenge of ACM MM 2022 (Zuo et al., "Bandwidth-Efficient Multi-video Prefetching
  /// for Short Video Streaming", 2022), as read here: a thousandth of the bitrate in kilobits a second for each
  /// second watched, less 1.85 for each second of delay, a thousandth of each change of the bitrate, and
  /// half of each megabit that came; per seven items.
  private var challengePoints: Double {
    let megabits = Double(fetchedBytes) * 8 / 1e6
    return perSession(quality - 1.85 * Double(delayMilliseconds) / 1_000 - switches - megabits / 2)
  }

  /// The formula of Yin et al. ("A Control-Theoretic Approach for Dynamic Adaptive Video Streaming over HTTP", SIGCOMM
  /// 2015) with its balanced weights, 1 for changes and 3000 kbit/s for each second of rebuffering or start-up, in
  /// megabits a second; per seven items.
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
