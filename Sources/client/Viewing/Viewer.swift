import Feed
import Foundation
import Prefetch
import PrefetchClient

/// A simulated person, who looks at the items of a feed one after another, at an even pace, whether they are
/// loaded or not, as the test bench of the articles does.
package struct Viewer: Sendable {
  /// The settings of a viewer.
  package struct Settings: Sendable {
    /// The number of items to look at.
    package var items = 1_000
    /// The time for each item.
    package var paceMilliseconds = 1_000
    /// The maximum wait for a page at the end of the list.
    package var patienceMilliseconds = 120_000

    /// Creates the settings of the articles: a thousand items, one a second.
    package init() {}
  }

  /// The results of a viewing.
  package struct Outcome: Sendable {
    /// The client's figures.
    package let figures: ViewingFigures
    /// The number of items with nothing to show when the person came to them, counted as in the lab: the
    /// first frame of a clip may be there before the clip is ready.
    package let loaders: Int
    /// The number of stalls of clips that had moved, because their bytes ran out.
    package let stalls: Int
    /// The total duration of these stalls.
    package let stalledMilliseconds: Int
    /// The total time for which clips stood at their first frame before they moved.
    package let standingMilliseconds: Int
    /// The total playing time of clips of known size, and the kilobits played by the mean bitrates of their
    /// files.
    package let playedMilliseconds: Int
    package let playedKilobits: Int
    /// The number of times that the list ended before the feed, and the person waited for a page.
    package let listLoaders: Int
    /// The total duration of these waits.
    package let listWaitMilliseconds: Int
    /// Whether the feed ended before that many items.
    package let hasEnded: Bool

    /// The mean bitrate of the watched clips, in kilobits a second; `nil` if no clip played.
    package var bitrate: Double? {
      playedMilliseconds > 0 ? Double(playedKilobits) * 1_000 / Double(playedMilliseconds) : nil
    }

    /// The total time that the person lost: waits for items and pages, standing first frames, and stalls.
    package var delayMilliseconds: Int {
      figures.waitMilliseconds + listWaitMilliseconds + standingMilliseconds + stalledMilliseconds
    }
  }

  private let prefetcher: Prefetcher
  private let settings: Settings
  private let clock: SessionClock

  /// Creates a viewer of the prefetcher's feed, on its clock.
  package init(_ prefetcher: Prefetcher, settings: Settings, clock: SessionClock) {
    self.prefetcher = prefetcher
    self.settings = settings
    self.clock = clock
  }

  /// Looks at all items.
  ///
  /// - Throws: `FeedSessionError` if the first page cannot be loaded.
  package func view() async throws(FeedSessionError) -> Outcome {
    try await prefetcher.begin()
    var (listLoaders, listWait, hasEnded) = (0, 0, false)
    var (stalls, stalled, standing) = (0, 0, 0)
    var (loaders, played, kilobits) = (0, 0, 0)
    var list: [FeedItem] = []
    var position = -1
    var last: String?
    // The pace is even: the duration of calls extends no item's time.
    var due: Int?
    for _ in 0..<settings.items {
      // The list may have grown, and have another beginning.
      if position + 1 >= list.count {
        (list, position) = await current(behind: last)
        if position + 1 >= list.count {
          let begun = clock.milliseconds
          due = nil
          listLoaders += 1
          hasEnded = !(await waitForMore(behind: last, since: begun))
          listWait += clock.milliseconds - begun
          (list, position) = await current(behind: last)
        }
      }
      guard !hasEnded, position + 1 < list.count else { break }
      position += 1
      let item = list[position]
      last = item.id
      let end = (due ?? clock.milliseconds) + settings.paceMilliseconds
      due = end
      await prefetcher.look(at: item.id)
      if !(await hasFirstFrame(item)) { loaders += 1 }
      let playback = await watch(item, until: end)
      if let playback, playback.stalls > 0 {
        await prefetcher.stalled(playback.stalls, milliseconds: playback.stalledMilliseconds)
      }
      stalls += playback?.stalls ?? 0
      stalled += playback?.stalledMilliseconds ?? 0
      standing += playback?.standingMilliseconds ?? 0
      guard let playback, playback.playedKilobits > 0 else { continue }
      played += playback.playedMilliseconds
      kilobits += playback.playedKilobits
    }
    await prefetcher.leaveActive()
    let figures = await prefetcher.figures
    await prefetcher.end()
    return Outcome(
      figures: figures, loaders: loaders, stalls: stalls, stalledMilliseconds: stalled,
      standingMilliseconds: standing, playedMilliseconds: played, playedKilobits: kilobits,
      listLoaders: listLoaders, listWaitMilliseconds: listWait, hasEnded: hasEnded)
  }

  private func hasFirstFrame(_ item: FeedItem) async -> Bool {
    if await prefetcher.isReady(item.id) { return true }
    guard item.post.media.count == 1, let file = await prefetcher.chosenFile(of: item.id) else {
      return false
    }
    return Self.hasFirstFrame(file.load, prefix: await prefetcher.heldPrefix(of: item.id))
  }

  /// Whether the first bytes of a file that is not ready show something: of a clip the first frame, of a
  /// picture nothing before the last byte. (A progressive picture has a beginning that can be decoded, too;
  /// the lab does not count that as shown.)
  static func hasFirstFrame(_ load: MediaLoad, prefix: Int) -> Bool {
    guard load.kind.plays, let timing = load.timing, timing.isStartable, timing.headBytes > 0 else {
      return false
    }
    return prefix >= timing.headBytes
  }

  /// Looks at an item until `end`. A clip plays, and the prefetcher is told how.
  private func watch(_ item: FeedItem, until end: Int) async -> ClipPlayback? {
    guard item.post.media.first?.kind.plays == true,
      let load = await prefetcher.chosenFile(of: item.id)?.load
    else {
      try? await clock.sleep(untilMilliseconds: end)
      return nil
    }
    var playback = ClipPlayback(
      load, decoderStartMilliseconds: PrefetchSettings().decoderStartMilliseconds)
    var time = clock.milliseconds
    while time + ClipPlayback.stepMilliseconds <= end {
      time += ClipPlayback.stepMilliseconds
      guard (try? await clock.sleep(untilMilliseconds: time)) != nil else { break }
      let isReady = await prefetcher.isReady(item.id)
      let prefix = await prefetcher.heldPrefix(of: item.id)
      if let state = playback.pass(prefix: prefix, isReady: isReady) {
        await prefetcher.play(atMilliseconds: playback.milliseconds, state)
      }
    }
    try? await clock.sleep(untilMilliseconds: end)
    return playback
  }

  /// The current list, and the index of the item in it.
  private func current(behind last: String?) async -> ([FeedItem], Int) {
    let items = await prefetcher.session.items
    return (items, last.flatMap { last in items.lastIndex { $0.id.isSame(as: last) } } ?? -1)
  }

  /// - Returns: whether there is an item after that one.
  private func waitForMore(behind last: String?, since begun: Int) async -> Bool {
    while clock.milliseconds - begun < settings.patienceMilliseconds {
      let (items, position) = await current(behind: last)
      if position + 1 < items.count { return true }
      if !(await prefetcher.session.hasOlder) { return false }
      try? await clock.sleep(milliseconds: 20)
    }
    return false
  }
}
