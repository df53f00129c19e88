import Feed
import Prefetch

/// A feed to scroll: the true items, and the items as the engine is told of them.
package struct LabFeed: Sendable {
  /// One item with its media, each the original and its variants.
  package struct Item: Hashable, Sendable {
    /// The id, unique in the feed.
    @ByBytes package private(set) var id: String
    /// The type of the item.
    package let type: PostType
    /// The media in the order in which they are shown, each with at least its original.
    package let media: [[LabFile]]
    /// How long people watch it, if that is known: viewers act accordingly, and the server states it.
    package var survival: [WatchPoint]

    /// Creates an item. Each of the media has at least its original.
    package init(
      id: String, type: PostType, media: [[LabFile]], survival: [WatchPoint] = []
    ) {
      precondition(media.allSatisfy { !$0.isEmpty })
      self.id = id
      self.type = type
      self.media = media
      self.survival = survival
    }

    /// The number of media that are seen before a person turns a carousel.
    var seenMedia: Int { type == .carousel ? min(1, media.count) : media.count }
    /// The duration; `nil` if nothing moves.
    var durationMilliseconds: Int? {
      media.first.flatMap { $0[0].isClip ? $0[0].durationMilliseconds : nil }
    }
  }

  /// The items, from the top.
  package let items: [Item]
  /// The number of items of a page.
  package let pageItems: Int
  /// The items as described by a server that has looked into the files.
  let hinted: [PrefetchItem]
  /// The items as described by a server that has not looked into the files.
  let unhinted: [PrefetchItem]
  /// The index of each item's first file among all files; the last element is the number of files.
  let firstFiles: [Int]
  private let indexes: [ByteText: Int]

  /// Creates a feed of these items, at least one, with distinct ids.
  package init(_ items: [Item], pageItems: Int = 30) {
    precondition(!items.isEmpty && pageItems > 0)
    self.items = items
    self.pageItems = pageItems
    hinted = items.enumerated().map { Self.told($1, at: $0) { $0.load } }
    unhinted = items.enumerated().map { index, item in
      var told = Self.told(item, at: index) { $0.unknownLoad }
      told.survival = []
      return told
    }
    firstFiles = items.reduce(into: [0]) { sums, item in
      sums.append(sums[sums.count - 1] + item.media.reduce(0) { $0 + $1.count })
    }
    indexes = Dictionary(
      uniqueKeysWithValues: items.enumerated().map { (ByteText($1.id), $0) })
  }

  private static func told(
    _ item: Item, at index: Int, _ load: (LabFile) -> MediaLoad
  ) -> PrefetchItem {
    PrefetchItem(
      id: item.id, type: item.type,
      media: item.media.enumerated().map { media, files in
        PrefetchMedia(
          files: files.enumerated().map { variant, file in
            PrefetchFile(
              key: "\(index).\(media).\(variant)", load: load(file),
              chunkMilliseconds: file.isChunked ? 1_000 : nil)
          })
      }, survival: item.survival)
  }

  /// The same items, with the curves given here.
  package func watched(_ curves: [ByteText: [WatchPoint]]) -> LabFeed {
    guard !curves.isEmpty else { return self }
    return LabFeed(
      items.map { item in
        var item = item
        item.survival = curves[ByteText(item.id)] ?? item.survival
        return item
      }, pageItems: pageItems)
  }

  /// The same items, beginning with another one.
  func turned(_ random: LabRandom) -> LabFeed {
    var random = random
    let first = random.number(below: items.count)
    return LabFeed(Array(items[first...] + items[..<first]), pageItems: pageItems)
  }

  func index(of id: String) -> Int? { indexes[ByteText(id)] }

  /// The index of a file among all files.
  func file(ofItem item: Int, media: Int, variant: Int) -> Int {
    var place = firstFiles[item] + variant
    for before in items[item].media.prefix(media) { place += before.count }
    return place
  }
}
