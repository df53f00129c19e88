import Feed
import TestSupport
import Testing

struct ByteTextTests {
  /// To Swift's `==`, each pair is one text.
  static let pairs = [
    ("\u{e9}", "e\u{301}"), ("\u{c5}", "\u{212b}"), ("K", "\u{212a}"),
    ("\u{ac00}", "\u{1100}\u{1161}"),
    ("a;", "a\u{37e}"),
  ]

  @Test(arguments: pairs) func `texts that only look the same are two`(
    _ left: String, _ right: String
  ) {
    #expect(left == right)
    #expect(ByteText(left) != ByteText(right))
    #expect(ByteText(left) == ByteText(left))
    #expect(Set([left, right, left].map(ByteText.init)).count == 2)
    #expect((ByteText(left) < ByteText(right)) == left.utf8.lexicographicallyPrecedes(right.utf8))
    var values: [ByteText: Int] = [:]
    values[left] = 1
    values[right] = 2
    values[left]? += 2
    #expect(values[left] == 3 && values[right] == 2)
  }

  @Test(arguments: pairs)
  func `values of the domain that differ in bytes are two`(_ left: String, _ right: String) {
    func check<Value: Hashable>(_ make: (String) -> Value) {
      #expect(make(left) != make(right))
      #expect(make(left) == make(left))
      #expect(Set([make(left), make(right), make(left)]).count == 2)
    }
    check { Counter($0, 1) }
    check { Author(id: $0) }
    check { Author(id: "a", name: $0) }
    check { Placement(feed: $0) }
    check { Post(id: "a", type: .text, tags: ["x", $0]) }
    check { PageQuery(feed: $0) }
    check { PageQuery(feed: "a", start: .around(.item($0), leading: 1, trailing: 1)) }
    check { SeedRecord.feed(name: $0, title: nil) }
    check { SeedRecord.feed(name: "a", title: $0) }
    check { FeedSummary(name: $0, title: nil, total: 0, ranking: 1, newestPublishedAt: nil) }
    check { StoredItem(post: Post(id: $0, type: .text), placements: []) }
  }

  @Test func `what is there and empty is not what is absent`() {
    #expect(Author(id: "a", name: "") != Author(id: "a", name: nil))
    #expect(Author(id: "ab", name: "c") != Author(id: "a", name: "bc"))
    #expect(Author(id: "ab", name: "c").hashValue != Author(id: "a", name: "bc").hashValue)
  }
}
