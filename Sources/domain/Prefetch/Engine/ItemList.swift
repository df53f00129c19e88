import Feed

/// One picture or clip of an item in the list.
struct MediaState: Equatable, Codable {
  /// The slots of its files: the original's first.
  var slots: [Int]
  /// Which of them is loaded.
  var variant = 0
  /// Something of that one was asked for: another would start over.
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
  /// What the policy weighs it.
  var weight = 0
  /// What starts it is there.
  var isReady = false
  /// A decoder works on it since this time.
  var decodesFrom: Int?
}

/// A stretch of the feed. Positions go on counting where items are added at its ends or leave there, so that a
/// position stays an item's own until the list is replaced.
struct ItemList: Equatable {
  /// The position of the first item.
  private(set) var first = 0
  private(set) var items: [ItemState] = []
  private var index: [ByteText: Int] = [:]

  var count: Int { items.count }
  /// Behind the last item's position.
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

  /// Other items, or the same in another order; positions start over.
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
