import Feed
import Prefetch

/// A feed that somebody recorded: items as a server tells of them.
package struct RecordedFeed: Sendable {
  /// The feed to be scrolled.
  package let feed: LabFeed
  /// How many files its items have, variants counted.
  package let fileCount: Int
  /// How many of them have a drawn size, as none was recorded.
  package let drawnSizes: Int

  /// How many items are taken, from the feed's top.
  package static let itemLimit = 20_000

  /// The feed of these items; of items with the same id, the first.
  ///
  /// - Parameters:
  ///   - model: where sizes and durations are drawn from that the record does not have.
  ///   - random: with which numbers.
  /// - Throws: `RecordedFeedError` where there are no items.
  package init(
    _ items: some Sequence<PrefetchItem>, drawingFrom model: FeedModel = FeedModel(),
    random: LabRandom = LabRandom(seed: 1)
  ) throws(RecordedFeedError) {
    var (known, taken) = (Set<ByteText>(), [LabFeed.Item]())
    var (files, drawn) = (0, 0)
    for item in items where taken.count < Self.itemLimit && known.insert(ByteText(item.id)).inserted
    {
      var own = random.split(UInt64(taken.count))
      let media = item.media.map { media in
        media.files.map { file in
          var isKnown = true
          let made = LabFile(file.load, model, random: &own, isKnown: &isKnown)
          files += 1
          if !isKnown { drawn += 1 }
          return made
        }
      }
      taken.append(
        LabFeed.Item(
          id: item.id, type: item.type, media: media, survival: item.survival))
    }
    guard !taken.isEmpty else { throw .noItems }
    feed = LabFeed(taken)
    (fileCount, drawnSizes) = (files, drawn)
  }

  /// What somebody looked at whom somebody watched: those of the looks whose items the feed has.
  package func looks(_ looks: [(item: String, dwellMilliseconds: Int)]) -> [ViewerModel.Look] {
    looks.compactMap { look in
      feed.index(of: look.item).map {
        ViewerModel.Look(index: $0, dwellMilliseconds: look.dwellMilliseconds)
      }
    }
  }

  /// What it is, in words: of how many files the sizes are assumptions.
  package var words: String {
    "\(feed.items.count) items with \(fileCount) files"
      + (drawnSizes > 0 ? "; \(drawnSizes) sizes are not recorded and were drawn at random" : "")
  }
}

/// Why a recorded feed cannot be scrolled.
package enum RecordedFeedError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It has no items.
  case noItems

  /// `there are no items in it`
  package var description: String { "it has no items" }
}
