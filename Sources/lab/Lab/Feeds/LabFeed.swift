import Feed
import Prefetch

/// A feed to be scrolled: its items as they are, and as the engine is told of them.
package struct LabFeed: Sendable {
  /// One item: its media, each the original and its variants.
  package struct Item: Hashable, Sendable {
    /// Its own among the items of the feed.
    @ByBytes package private(set) var id: String
    /// What it is.
    package let type: PostType
    /// Its media, in the order in which they are shown, each at least its original.
    package let media: [[LabFile]]
    /// How long people watch it, where that is known: whoever watches does so, and the server tells it.
    package var survival: [WatchPoint]

    /// An item of these media.
    package init(
      id: String, type: PostType, media: [[LabFile]], survival: [WatchPoint] = []
    ) {
      precondition(media.allSatisfy { !$0.isEmpty })
      self.id = id
      self.type = type
      self.media = media
      self.survival = survival
    }

    /// How many of its media are seen before a person turns it.
    var seenMedia: Int { type == .carousel ? min(1, media.count) : media.count }
    /// How long it plays; `nil` where nothing moves.
    var durationMilliseconds: Int? {
      media.first.flatMap { $0[0].isClip ? $0[0].durationMilliseconds : nil }
    }
  }

  /// Its items, from the top.
  package let items: [Item]
  /// How many items a page has.
  package let pageItems: Int
  /// What the engine is told by a server that has looked into the files.
  let hinted: [PrefetchItem]
  /// What it is told by one that has not.
  let unhinted: [PrefetchItem]
  /// Of each item, the place of its first file among all files; and how many files there are, at the end.
  let firstFiles: [Int]
  private let indexes: [ByteText: Int]

  /// A feed of these items, at least one, no two of the same id.
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

  /// The same items, those that have a curve here with it.
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

  /// The place of a file among all files.
  func file(ofItem item: Int, media: Int, variant: Int) -> Int {
    var place = firstFiles[item] + variant
    for before in items[item].media.prefix(media) { place += before.count }
    return place
  }
}
