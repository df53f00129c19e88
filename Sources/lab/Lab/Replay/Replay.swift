import Feed
import LinkModel
import PostJSON
import Prefetch

/// A recorded session under other strategies: the person's looks as recorded, the link as inferred, twice.
package struct Replay: Sendable {
  /// What a session, or several, came to.
  package struct Figures: Hashable, Sendable {
    /// Items that were looked at.
    package var items = 0
    /// Of these, items that were not there.
    package var loaders = 0
    /// How long they were waited for.
    package var waitMilliseconds = 0
    /// Bytes of media that came.
    package var bytes = 0

    /// Nothing.
    package init() {}

    /// Adds another one's.
    package mutating func add(_ other: Figures) {
      items += other.items
      loaders += other.loaders
      waitMilliseconds += other.waitMilliseconds
      bytes += other.bytes
    }

    /// Loaders of 1000 items.
    package var loadersPerThousand: Double { 1_000 * Double(loaders) / Double(max(1, items)) }
    /// Milliseconds of waiting an item.
    package var waitPerItem: Double { Double(waitMilliseconds) / Double(max(1, items)) }
    /// Kilobytes (1000 bytes) an item.
    package var kilobytesPerItem: Double { Double(bytes) / 1_000 / Double(max(1, items)) }
  }

  /// By what it was recorded.
  package let strategy: Policy.Strategy
  /// What it came to as it was recorded.
  package let recorded: Figures
  /// What it says of its link.
  package let link: InferredLink
  private let feed: LabFeed
  private let looks: [ViewerModel.Look]
  private let settings: PrefetchSettings

  /// The session that a log holds.
  ///
  /// - Throws: `ReplayError` where there is nothing in it to be replayed.
  package init(_ log: SessionLog) throws(ReplayError) {
    var items: [PrefetchItem] = []
    var recorded = Figures()
    for entry in log.events {
      switch entry.event {
      case .pageArrived(.above, let page, _, _): items = page + items
      case .pageArrived(_, let page, _, _): items += page
      case .bytesArrived(_, _, let range): recorded.bytes += range.count
      default: break
      }
    }
    do throws(RecordedFeedError) {
      feed = try RecordedFeed(items).feed
    } catch {
      throw .noItems
    }
    let feed = feed
    looks = log.looks.compactMap { look in
      guard let dwell = look.dwellMilliseconds, let index = feed.index(of: look.item) else {
        return nil
      }
      return ViewerModel.Look(index: index, dwellMilliseconds: dwell)
    }
    guard !looks.isEmpty else { throw .noLooks }
    guard let link = InferredLink(log) else { throw .nothingCame }
    self.link = link
    for look in log.looks where look.dwellMilliseconds != nil {
      recorded.items += 1
      recorded.loaders += look.isReady ? 0 : 1
      recorded.waitMilliseconds += look.waitMilliseconds ?? 0
    }
    self.recorded = recorded
    strategy = log.start.policy.strategy
    settings = log.start.settings
  }

  /// What it would have come to.
  ///
  /// - Parameters:
  ///   - isFast: over the link as fast as it may have been, or as slow.
  ///   - transport: how requests go over it.
  package func run(
    _ strategy: Policy.Strategy, isFast: Bool, over transport: LinkSettings, seed: UInt64 = 1
  ) -> Figures {
    var network = LabNetwork(
      name: "inferred", trace: link.schedule(isFast: isFast), link: transport)
    network.beginsAtTop = true
    let run = Simulation.run(
      Contestant(
        name: strategy.name, policy: Policy(name: strategy.name, strategy: strategy),
        settings: settings),
      Simulation.Setup(
        feed: feed, viewer: .replaying(looks), network: network, items: looks.count), seed: seed)
    return Figures(run)
  }
}

extension Replay.Figures {
  /// Those of a run.
  init(_ run: RunFigures) {
    self.init()
    (items, loaders, waitMilliseconds, bytes) = (
      run.viewedItems, run.loaders, run.waitedMilliseconds, run.fetchedBytes
    )
  }
}

/// Why a session cannot be replayed.
package enum ReplayError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No page came.
  case noItems
  /// No item was looked at to the end.
  case noLooks
  /// Nothing was loaded: of the link nothing is known.
  case nothingCame

  /// For example `none of its items was looked at`
  package var description: String {
    switch self {
    case .noItems: "it has no page with items"
    case .noLooks: "none of its items was viewed"
    case .nothingCame: "nothing was loaded, so its link is unknown"
    }
  }
}
