import Feed
import Prefetch

/// A recorded feed: items as a server describes them.
package struct RecordedFeed: Sendable {
  /// The feed to scroll.
  package let feed: LabFeed
  /// The number of files of its items, including variants.
  package let fileCount: Int
  /// The number of files with a drawn size, because none was recorded.
  package let drawnSizes: Int

  /// The maximum number of items, from the feed's top.
  package static let itemLimit = 20_000

  /// Creates a feed of these items; of items with the same id, the first is used.
  ///
  /// - Parameters:
  ///   - model: the model from which sizes and durations are drawn that the recording does not have.
  ///   - random: the random numbers for these.
  /// - Throws: `RecordedFeedError` if there are no items.
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

  /// The recorded looks of a person, without those at items that the feed does not have.
  package func looks(_ looks: [(item: String, dwellMilliseconds: Int)]) -> [ViewerModel.Look] {
    looks.compactMap { look in
      feed.index(of: look.item).map {
        ViewerModel.Look(index: $0, dwellMilliseconds: look.dwellMilliseconds)
      }
    }
  }

  /// A description, with the number of sizes that are assumptions.
  package var words: String {
    "\(feed.items.count) items with \(fileCount) files"
      + (drawnSizes > 0 ? "; \(drawnSizes) sizes are not recorded and were drawn at random" : "")
  }
}

/// The reason why a recorded feed cannot be scrolled.
package enum RecordedFeedError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It has no items.
  case noItems

  /// `it has no items`.
  package var description: String { "it has no items" }
}
