import Feed
import HashTreeCollections

/// The feeds of a catalog: by name, by the store's number, and in the order of their names.
///
/// A value, as the catalog is: a change of one feed makes anew what leads to it, which grows with the
/// logarithm of their number, and copies share the rest.
public struct FeedList: Sendable {
  private var byName: TreeDictionary<ByteText, FeedCatalog.Entry> = [:]
  private var names: TreeDictionary<Int64, ByteText> = [:]
  private var sorted = SortedNames()

  /// No feeds.
  init() {}

  /// These feeds, each with a name and a number of its own.
  init(_ entries: [FeedCatalog.Entry]) {
    for entry in entries {
      let name = ByteText(entry.order.name)
      byName[name] = entry
      names[entry.feedID] = name
    }
    sorted = SortedNames(byName.keys)
  }

  /// How many there are.
  public var count: Int { byName.count }

  /// The feed of this name.
  public subscript(name: String) -> FeedCatalog.Entry? { byName[ByteText(name)] }

  /// The feed that has this number in the store.
  public subscript(id id: Int64) -> FeedCatalog.Entry? { names[id].flatMap { byName[$0] } }

  /// Every feed, in any order.
  public var entries: some Sequence<FeedCatalog.Entry> { byName.values }

  /// Takes a feed in, in the place of the one that has its name.
  mutating func put(_ entry: FeedCatalog.Entry) {
    let name = ByteText(entry.order.name)
    if let old = byName.updateValue(entry, forKey: name) {
      if old.feedID != entry.feedID { names[old.feedID] = nil }
    } else {
      sorted.insert(name)
    }
    names[entry.feedID] = name
  }

  /// Takes the feed out that has this number in the store.
  mutating func remove(id: Int64) {
    guard let name = names.removeValue(forKey: id) else { return }
    byName[name] = nil
    sorted.remove(name)
  }
}

// MARK: Pages

extension FeedList {
  /// The page that the query asks for; `nil` where one of its feeds has yet to be read.
  func page(_ query: FeedListQuery) -> FeedListPage? {
    let top = query.after.map(place(below:)) ?? sorted.start
    let end = query.before.map(place(above:)) ?? sorted.end
    let bottom = max(top, end)
    let isFromBottom = query.after == nil && query.before != nil
    let first = isFromBottom ? sorted.place(query.limit, above: bottom, limit: top) : top
    let last = isFromBottom ? bottom : sorted.place(query.limit, below: top, limit: bottom)
    // Between two cursors lies a gap, beyond which there is nothing.
    let isGap = query.after != nil && query.before != nil
    let names = sorted.names(from: first, to: last)
    let summaries = names.compactMap { byName[$0]?.summary }
    guard summaries.count == names.count else { return nil }
    return FeedListPage(
      feeds: summaries, total: count,
      next: last < (isGap ? bottom : sorted.end)
        ? names.last.map { .name($0.text) } ?? .start : nil,
      previous: first > (isGap ? top : sorted.start)
        ? names.first.map { .name($0.text) } ?? .end : nil)
  }

  private func place(below anchor: FeedListCursor) -> SortedNames.Place {
    switch anchor {
    case .start: sorted.start
    case .end: sorted.end
    case .name(let name): sorted.place(after: ByteText(name))
    }
  }

  private func place(above anchor: FeedListCursor) -> SortedNames.Place {
    switch anchor {
    case .start: sorted.start
    case .end: sorted.end
    case .name(let name): sorted.place(before: ByteText(name))
    }
  }
}
