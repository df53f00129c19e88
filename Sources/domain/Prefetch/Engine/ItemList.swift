import Feed

/// One picture or clip of an item in the list.
struct MediaState: Equatable, Codable {
  /// The slots of its files, the original's first.
  var slots: [Int]
  /// The index of the file that is loaded.
  var variant = 0
  /// Whether bytes of that file were requested: another file would start over.
  var isSettled = false

  var slot: Int { slots[variant] }
}

/// An item in the list.
struct ItemState: Equatable, Codable {
  @ByBytes var id: String
  var type: PostType
  var media: [MediaState]
  var expiresAt: Int?
  var survival: [WatchPoint]
  /// The item's weight under the policy.
  var weight = 0
  /// Whether the bytes that start the item are held.
  var isReady = false
  /// The time since which a decoder works on the item.
  var decodesFrom: Int?
}

/// A stretch of the feed. Positions keep counting when items are added or removed at its ends, so that an
/// item keeps its position until the list is replaced.
struct ItemList: Equatable {
  /// The position of the first item.
  private(set) var first = 0
  private(set) var items: [ItemState] = []
  private var index: [ByteText: Int] = [:]

  var count: Int { items.count }
  /// The position behind the last item.
  var end: Int { first + items.count }
  var positions: Range<Int> { first..<end }

  func position(of id: String) -> Int? { index[ByteText(id)] }

  /// The item at a position of the list.
  subscript(position: Int) -> ItemState {
    _read { yield items[position - first] }
    _modify { yield &items[position - first] }
  }

  mutating func append(_ item: ItemState) {
    index[ByteText(item.id)] = end
    items.append(item)
    assert(index.count == count, "an id is in the list twice")
  }

  mutating func prepend(_ added: [ItemState]) {
    first -= added.count
    items.insert(contentsOf: added, at: 0)
    for (offset, item) in added.enumerated() { index[ByteText(item.id)] = first + offset }
    assert(index.count == count, "an id is in the list twice")
  }

  mutating func removeFirst(_ count: Int) {
    for item in items.prefix(count) { index[ByteText(item.id)] = nil }
    items.removeFirst(count)
    first += count
    assert(index.count == count, "an id is in the list twice")
  }

  mutating func removeLast(_ count: Int) {
    for item in items.suffix(count) { index[ByteText(item.id)] = nil }
    items.removeLast(count)
    assert(index.count == count, "an id is in the list twice")
  }

  /// Replaces the items by others, or by the same in another order; positions start over.
  mutating func replace(_ items: [ItemState]) {
    (first, self.items, index) = (0, items, [:])
    for (position, item) in items.enumerated() { index[ByteText(item.id)] = position }
    assert(index.count == count, "an id is in the list twice")
  }
}

extension ItemList: Codable {
  private enum CodingKeys: CodingKey {
    case first, items
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    first = try values.decode(Int.self, forKey: .first)
    items = try values.decode([ItemState].self, forKey: .items)
    for (offset, item) in items.enumerated() { index[ByteText(item.id)] = first + offset }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(first, forKey: .first)
    try values.encode(items, forKey: .items)
  }
}
