import Feed
import Foundation
import Prefetch
import PrefetchClient

/// A person without eyes: looks at the items of a feed, one after the other, at an even pace, whether they are
/// there or not, as the measuring stand of the articles does.
package struct Viewer: Sendable {
  /// How it scrolls.
  package struct Settings: Sendable {
    /// How many items it looks at.
    package var items = 1_000
    /// How long it looks at each.
    package var paceMilliseconds = 1_000
    /// How long it waits for a page at the end of the list before it gives up.
    package var patienceMilliseconds = 120_000

    /// The articles' thousand items at one a second.
    package init() {}
  }

  /// What a viewing came to.
  package struct Outcome: Sendable {
    /// The client's figures.
    package let figures: ViewingFigures
    /// How many items had nothing to show when the person came to them, as the lab counts loaders: of a clip that is not
    /// ready yet, the first frame may be there.
    package let loaders: Int
    /// How often clips stopped that had moved, since their bytes ran out.
    package let stalls: Int
    /// How long they stood then, together.
    package let stalledMilliseconds: Int
    /// How long clips stood at their first frame before they moved, together.
    package let standingMilliseconds: Int
    /// How long clips of known size played, and how many kilobits that was by the mean bitrates of their files.
    package let playedMilliseconds: Int
    package let playedKilobits: Int
    /// How often the list ended before the feed did, and a page had to be waited for.
    package let listLoaders: Int
    /// How long that took, together.
    package let listWaitMilliseconds: Int
    /// The feed ended before there were as many items.
    package let hasEnded: Bool

    /// The mean bitrate of what was watched, in kilobits a second; `nil` where no clip played.
    package var bitrate: Double? {
      playedMilliseconds > 0 ? Double(playedKilobits) * 1_000 / Double(playedMilliseconds) : nil
    }

    /// What the person lost in all: waiting for items and pages, standing at first frames, and stalls.
    package var delayMilliseconds: Int {
      figures.waitMilliseconds + listWaitMilliseconds + standingMilliseconds + stalledMilliseconds
    }
  }

  private let prefetcher: Prefetcher
  private let settings: Settings
  private let clock: SessionClock

  /// A viewer of the prefetcher's feed, on its clock.
  package init(_ prefetcher: Prefetcher, settings: Settings, clock: SessionClock) {
    self.prefetcher = prefetcher
    self.settings = settings
    self.clock = clock
  }

  /// Looks at all items.
  ///
  /// - Throws: `FeedSessionError` where not even the first page comes.
  package func view() async throws(FeedSessionError) -> Outcome {
    try await prefetcher.begin()
    var (listLoaders, listWait, hasEnded) = (0, 0, false)
    var (stalls, stalled, standing) = (0, 0, 0)
    var (loaders, played, kilobits) = (0, 0, 0)
    var list: [FeedItem] = []
    var position = -1
    var last: String?
    // An even pace: what a call takes makes no item's time longer.
    var due: Int?
    for _ in 0..<settings.items {
      // The list may have grown, and begun later.
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

  /// Whether there is something to show of a file that is not ready, of which this many first bytes are there: of a clip its
  /// first frame, of a picture nothing before all of it. (A progressive picture has a beginning that can be decoded, too; the
  /// lab does not count that as shown.)
  static func hasFirstFrame(_ load: MediaLoad, prefix: Int) -> Bool {
    guard load.kind.plays, let timing = load.timing, timing.isStartable, timing.headBytes > 0 else {
      return false
    }
    return prefix >= timing.headBytes
  }

  /// Looks at an item until then. A clip plays, and the prefetcher is told how.
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

  /// The list as it is, and where the item in it is.
  private func current(behind last: String?) async -> ([FeedItem], Int) {
    let items = await prefetcher.session.items
    return (items, last.flatMap { last in items.lastIndex { $0.id.isSame(as: last) } } ?? -1)
  }

  /// - Returns: whether there is an item behind that one.
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
