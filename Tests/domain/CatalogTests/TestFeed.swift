import Catalog
import Feed
import TestSupport
import Testing

/// What a made-up feed's order depends on.
enum Shape: CaseIterable {
  case ranked, timed, undated, mixed
}

/// A post of a made-up feed.
struct TestPost: Hashable {
  let id: String
  let number: Int64
  let rank: Int?
  let microseconds: Int64?

  var publishedAt: Timestamp? { microseconds.map(Timestamp.init(microseconds:)) }
  var position: Position {
    Position(key: SortKey(rank: rank, publishedAt: publishedAt), id: id)
  }
  var entry: OrderEntry { OrderEntry(position: position, post: number, publishedAt: publishedAt) }

  /// The order as the documentation has it, and not as `SortKey` codes it.
  static func isAbove(_ left: TestPost, _ right: TestPost) -> Bool {
    func group(_ post: TestPost) -> Int { post.rank != nil ? 0 : post.microseconds != nil ? 1 : 2 }
    if group(left) != group(right) { return group(left) < group(right) }
    if let one = left.rank, let other = right.rank, one != other { return one < other }
    if left.rank == nil, let one = left.microseconds, let other = right.microseconds, one != other {
      return one > other
    }
    return Array(left.id.utf8).lexicographicallyPrecedes(Array(right.id.utf8))
  }
}

/// A feed in the order that pages of it must have.
struct TestFeed {
  static let name = "featured"
  private(set) var posts: [TestPost]
  private var made: Int64 = 0

  init(_ posts: [TestPost] = []) {
    self.posts = posts.sorted(by: TestPost.isAbove)
  }

  init(_ count: Int, _ shape: Shape, _ random: inout TestRandom) {
    self.init()
    insert((0..<count).map { _ in make(shape, spread: max(1, count / 4), &random) })
  }

  var numbers: [Int64] { posts.map(\.number) }
  var index: OrderIndex { OrderIndex(posts.map(\.entry)) }
  var order: FeedOrder { FeedOrder(name: Self.name, title: nil, ranking: 1, orders: [1: index]) }

  /// A new post. A small spread makes many ties.
  mutating func make(_ shape: Shape, spread: Int, _ random: inout TestRandom) -> TestPost {
    made += 1
    let kind = shape == .mixed ? random.one(of: [.ranked, .timed, .undated]) : shape
    return TestPost(
      id: random.one(of: ["a", "Z", "e\u{301}", "\u{e9}", "\u{1f600}"]) + String(made),
      number: made, rank: kind == .ranked ? random.number(0...spread) : nil,
      microseconds: kind == .undated || (kind == .ranked && random.once(in: 2))
        ? nil : Int64(random.number(0...spread)))
  }

  /// A new post above all others; now and then at the same instant as the topmost.
  mutating func makeNewer(_ random: inout TestRandom) -> TestPost {
    made += 1
    let top = posts.first?.microseconds ?? 0
    // The ids before "!", which is before all others, go down: later ones stand above.
    let tie = random.once(in: 3) && posts.first?.microseconds != nil
    let id = tie ? "!" + String(1_000_000 - made) : "n" + String(made)
    return TestPost(id: id, number: made, rank: nil, microseconds: tie ? top : top + 1)
  }

  mutating func insert(_ more: [TestPost]) {
    posts = (posts + more).sorted(by: TestPost.isAbove)
  }

  mutating func remove(_ gone: Set<Int64>) {
    posts.removeAll { gone.contains($0.number) }
  }

  /// The page shows these offsets, and has the links that belong to them.
  func check(
    _ page: PageSlice, _ range: Range<Int>, _ note: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let comment: Comment = "\(range) of \(posts.count), \(note) \(TestRandom.replay)"
    try #require(page.numbers == Array(numbers[range]), comment, sourceLocation: sourceLocation)
    try #require(page.offset == range.lowerBound, comment, sourceLocation: sourceLocation)
    try #require(
      (page.next != nil) == (range.upperBound < posts.count), comment,
      sourceLocation: sourceLocation)
    try #require(
      (page.previous != nil) == (range.lowerBound > 0), comment, sourceLocation: sourceLocation)
  }
}

extension PageSlice {
  var numbers: [Int64] { entries.map(\.post) }
}

extension FeedOrder {
  /// A page, with its cursors sent through their texts as a client's are.
  func page(
    _ start: PageQuery.Start = .top, offset: Int = 0, limit: Int, item: Position? = nil
  ) throws -> PageSlice {
    try slice(
      PageQuery(feed: name, start: try start.throughText, offset: offset, limit: limit),
      position: item)
  }
}

extension PageQuery.Start {
  fileprivate var throughText: PageQuery.Start {
    get throws {
      switch self {
      case .top, .around: self
      case .after(let cursor): .after(try Cursor(text: cursor.text))
      case .before(let cursor): .before(try Cursor(text: cursor.text))
      case .between(let after, let before):
        .between(after: try Cursor(text: after.text), before: try Cursor(text: before.text))
      }
    }
  }
}
