import Feed
import LinkModel
import PostJSON
import Prefetch

/// A recorded session under other strategies: with the recorded looks of the person, and twice with the
/// inferred link.
package struct Replay: Sendable {
  /// The figures of one or several sessions.
  package struct Figures: Hashable, Sendable {
    /// The number of items that were looked at.
    package var items = 0
    /// The number of these that were not loaded.
    package var loaders = 0
    /// The total wait for them.
    package var waitMilliseconds = 0
    /// The number of bytes of media that arrived.
    package var bytes = 0

    /// Creates figures of no session.
    package init() {}

    /// Adds the figures of another session.
    package mutating func add(_ other: Figures) {
      items += other.items
      loaders += other.loaders
      waitMilliseconds += other.waitMilliseconds
      bytes += other.bytes
    }

    /// Loaders per 1000 items.
    package var loadersPerThousand: Double { 1_000 * Double(loaders) / Double(max(1, items)) }
    /// Milliseconds of waiting an item.
    package var waitPerItem: Double { Double(waitMilliseconds) / Double(max(1, items)) }
    /// Kilobytes (1000 bytes) an item.
    package var kilobytesPerItem: Double { Double(bytes) / 1_000 / Double(max(1, items)) }
  }

  /// The strategy with which it was recorded.
  package let strategy: Policy.Strategy
  /// The figures as recorded.
  package let recorded: Figures
  /// The link as inferred.
  package let link: InferredLink
  private let feed: LabFeed
  private let looks: [ViewerModel.Look]
  private let settings: PrefetchSettings

  /// Creates a replay of the session in a log.
  ///
  /// - Throws: `ReplayError` if it has nothing to replay.
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

  /// The figures of the session under another strategy.
  ///
  /// - Parameters:
  ///   - isFast: whether the link is at its fastest or at its slowest.
  ///   - transport: the settings of connections and requests.
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
  /// The figures of a run.
  init(_ run: RunFigures) {
    self.init()
    (items, loaders, waitMilliseconds, bytes) = (
      run.viewedItems, run.loaders, run.waitedMilliseconds, run.fetchedBytes
    )
  }
}

/// The reason why a session cannot be replayed.
package enum ReplayError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The session has no page.
  case noItems
  /// No item was looked at to the end.
  case noLooks
  /// Nothing was loaded, so nothing is known of the link.
  case nothingCame

  /// For example `none of its items was viewed`.
  package var description: String {
    switch self {
    case .noItems: "it has no page with items"
    case .noLooks: "none of its items was viewed"
    case .nothingCame: "nothing was loaded, so its link is unknown"
    }
  }
}
