import Feed
import HashTreeCollections

/// The feeds of a catalog: by name, by the store's number, and in the order of their names.
///
/// A value: a change of one feed copies only the path to it, whose length is logarithmic in the number of
/// feeds. Copies share the rest.
public struct FeedList: Sendable {
  private var byName: TreeDictionary<ByteText, FeedCatalog.Entry> = [:]
  private var names: TreeDictionary<Int64, ByteText> = [:]
  private var sorted = SortedNames()
  /// The numbers of the feeds whose order is in memory.
  private var held: TreeSet<Int64> = []
  /// The approximate memory of all feeds, in bytes.
  private(set) var heldBytes = 0

  /// Creates an empty list.
  init() {}

  /// Creates the list from feeds with distinct names and numbers.
  init(_ entries: [FeedCatalog.Entry]) {
    for entry in entries {
      let name = ByteText(entry.order.name)
      byName[name] = entry
      names[entry.feedID] = name
      heldBytes += entry.heldBytes
      if entry.isHeld { held.insert(entry.feedID) }
    }
    sorted = SortedNames(byName.keys)
  }

  /// The number of feeds.
  public var count: Int { byName.count }

  /// The number of feeds whose order is in memory.
  var heldCount: Int { held.count }

  /// The feed with this name.
  public subscript(name: String) -> FeedCatalog.Entry? { byName[ByteText(name)] }

  /// The feed with this number in the store.
  public subscript(id id: Int64) -> FeedCatalog.Entry? { names[id].flatMap { byName[$0] } }

  /// Every feed, in unspecified order.
  public var entries: some Sequence<FeedCatalog.Entry> { byName.values }

  /// Adds a feed, or replaces the one with the same name.
  mutating func put(_ entry: FeedCatalog.Entry) {
    let name = ByteText(entry.order.name)
    heldBytes += entry.heldBytes
    if let old = byName.updateValue(entry, forKey: name) {
      heldBytes -= old.heldBytes
      if old.feedID != entry.feedID {
        names[old.feedID] = nil
        held.remove(old.feedID)
      }
    } else {
      sorted.insert(name)
    }
    names[entry.feedID] = name
    if entry.isHeld { held.insert(entry.feedID) } else { held.remove(entry.feedID) }
  }

  /// Removes the feed with this number in the store.
  mutating func remove(id: Int64) {
    guard let name = names.removeValue(forKey: id) else { return }
    heldBytes -= byName.removeValue(forKey: name)?.heldBytes ?? 0
    held.remove(id)
    sorted.remove(name)
  }

  /// Evicts the least recently used orders until all feeds take at most `bytes`. The most recently used
  /// order stays.
  mutating func letGo(downTo bytes: Int) {
    let longestFirst = held.compactMap { self[id: $0] }.sorted { $0.askedTurn < $1.askedTurn }
    for entry in longestFirst.dropLast() where heldBytes > bytes {
      put(entry.lettingGo())
    }
  }
}

// MARK: Pages

extension FeedList {
  /// Returns the page for the query; `nil` if one of its feeds has not been read yet.
  func page(_ query: FeedListQuery) -> FeedListPage? {
    let (names, next, previous) = names(query)
    let summaries = names.compactMap { byName[$0]?.summary }
    guard summaries.count == names.count else { return nil }
    return FeedListPage(feeds: summaries, total: count, next: next, previous: previous)
  }

  /// Returns the names of the feeds on that page whose entry count was never read.
  func unread(_ query: FeedListQuery) -> [String] {
    names(query).names.filter { byName[$0]?.extent == nil }.map(\.text)
  }

  private func names(_ query: FeedListQuery) -> (
    names: [ByteText], next: FeedListCursor?, previous: FeedListCursor?
  ) {
    let top = query.after.map(place(below:)) ?? sorted.start
    let end = query.before.map(place(above:)) ?? sorted.end
    let bottom = max(top, end)
    let isFromBottom = query.after == nil && query.before != nil
    let first = isFromBottom ? sorted.place(query.limit, above: bottom, limit: top) : top
    let last = isFromBottom ? bottom : sorted.place(query.limit, below: top, limit: bottom)
    // Two cursors bound a gap; the page does not go beyond it.
    let isGap = query.after != nil && query.before != nil
    let names = sorted.names(from: first, to: last)
    return (
      names,
      next: last < (isGap ? bottom : sorted.end)
        ? names.last.map { .name($0.text) } ?? .start : nil,
      previous: first > (isGap ? top : sorted.start)
        ? names.first.map { .name($0.text) } ?? .end : nil
    )
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
