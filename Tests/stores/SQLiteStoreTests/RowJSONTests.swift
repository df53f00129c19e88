import Feed
import RowStore
import TestSupport
import Testing

/// Tags and counters as rows have them. What of it stands in items as it is, is what this program would write.
struct RowJSONTests {
  /// A row's column, what it says, and whether it goes into items as it stands.
  typealias Case<Value> = (column: String, value: Value, isVerbatim: Bool)

  static let tags: [Case<[String]>] = [
    ("[]", [], false),
    (#"["a"]"#, ["a"], true),
    (#"["a","b","a"]"#, ["a", "b", "a"], true),
    (#"["","é","/"]"#, ["", "é", "/"], true),
    (#"["a", "b"]"#, ["a", "b"], false),
    (#"["quo\"te","b"]"#, ["quo\"te", "b"], false),
    (#"["a","\u0041"]"#, ["a", "A"], false),
    (#"["a"] "#, ["a"], false),
    // No JSON, but read all the same: and never written so.
    ("[\"a\u{1}\"]", ["a\u{1}"], false),
    ("[\"a\",\"b\n\",\"c\"]", ["a", "b\n", "c"], false),
  ]

  static let counters: [Case<[Counter]>] = [
    ("{}", [], false),
    (#"{"a":0}"#, [Counter("a", 0)], true),
    (#"{"a":-7,"b":10}"#, [Counter("a", -7), Counter("b", 10)], true),
    (#"{"a":999999999999999999}"#, [Counter("a", 999_999_999_999_999_999)], true),
    (#"{"a":9007199254740991123}"#, [Counter("a", 9_007_199_254_740_991_123)], false),
    (#"{"b":1,"a":2}"#, [Counter("a", 2), Counter("b", 1)], false),
    (#"{"a":1,"aa":2}"#, [Counter("a", 1), Counter("aa", 2)], true),
    (#"{"a": 1}"#, [Counter("a", 1)], false),
    (#"{"a\n":1}"#, [Counter("a\n", 1)], false),
    (#"{"é":1}"#, [Counter("é", 1)], true),
    // No JSON, but read all the same.
    (#"{"a":007}"#, [Counter("a", 7)], false),
    (#"{"a":-0}"#, [Counter("a", 0)], false),
    ("{\"a\u{1f}\":3}", [Counter("a\u{1f}", 3)], false),
  ]

  /// A post between others, as rows are read.
  private static func read(
    _ column: String, _ add: (UnsafeBufferPointer<UInt8>, inout FlatPosts) throws -> Void
  ) rethrows -> FlatPosts {
    var posts = FlatPosts(
      Post(id: "before", type: .text, tags: ["x", "y"], counters: [Counter("z", 1)]))
    posts.append(FlatPost(number: 1, type: .text, id: posts.add(text: "id")))
    var column = column
    try column.withUTF8 { try add($0, &posts) }
    posts.append(Post(id: "behind", type: .text, tags: ["v"], counters: [Counter("w", 2)]))
    return posts
  }

  private static func expectNeighbours(_ posts: FlatPosts) {
    let (before, behind) = (posts.post(at: 0), posts.post(at: 2))
    #expect(before.tags == ["x", "y"] && before.counters == [Counter("z", 1)])
    #expect(behind.tags == ["v"] && behind.counters == [Counter("w", 2)])
  }

  @Test(arguments: tags)
  func `tags are what the column says, and stand in items as this program writes them`(
    _ row: Case<[String]>
  ) throws {
    let posts = try Self.read(row.column) { try JSONText.addTags($0, to: &$1) }
    #expect(posts.post(at: 1).tags == row.value)
    #expect(posts.posts[1].tagsJSON.map(posts.string) == (row.isVerbatim ? row.column : nil))
    if row.isVerbatim { #expect(JSONText.text(row.value) == row.column) }
    Self.expectNeighbours(posts)
  }

  @Test(arguments: counters)
  func `counters are what the column says, and stand in items as this program writes them`(
    _ row: Case<[Counter]>
  ) throws {
    let posts = try Self.read(row.column) { try JSONText.addCounters($0, to: &$1) }
    #expect(posts.post(at: 1).counters == row.value)
    #expect(posts.posts[1].countersJSON.map(posts.string) == (row.isVerbatim ? row.column : nil))
    if row.isVerbatim { #expect(JSONText.text(row.value) == row.column) }
    Self.expectNeighbours(posts)
  }

  @Test(arguments: [
    "", "[", "]", "[]x", "[,]", #"["a"#, #"["a""#, #"["a",]"#, #"["a"]]"#, #"["a"]x"#, "{}", "7",
  ])
  func `a column that is no list of tags is an error`(column: String) {
    #expect(throws: RowError.self) {
      try Self.read(column) { try JSONText.addTags($0, to: &$1) }
    }
  }

  @Test(arguments: [
    "", "{", "}", "{}x", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1"#, #"{"a":1,}"#, #"{"a":1}}"#,
    #"{"a":"1"}"#, #"{"a":1.5}"#, "[]", "7",
  ])
  func `a column that is no object of counters is an error`(column: String) {
    #expect(throws: RowError.self) {
      try Self.read(column) { try JSONText.addCounters($0, to: &$1) }
    }
  }

  /// Columns of what is nearly right: whatever of it is taken as it stands is what a writer makes of its values.
  @Test(arguments: TestRandom.seeds)
  func `what stands in items as it is, is what a writer makes of it`(seed: UInt64) throws {
    var random = TestRandom(seed)
    let pieces = ["\"", "a", "b", ",", ":", "0", "7", "-", "{", "}", "[", "]", "\\", "\u{2}", " "]
    for _ in 0..<20_000 {
      let isList = random.once(in: 2)
      let middle = (0..<random.number(0...9)).map { _ in random.one(of: pieces) }.joined()
      let column = isList ? "[\"\(middle)\"]" : "{\"\(middle)\":\(random.number(-9...99))}"
      guard
        let posts = try? Self.read(
          column,
          { text, posts in
            if isList {
              try JSONText.addTags(text, to: &posts)
            } else {
              try JSONText.addCounters(text, to: &posts)
            }
          })
      else { continue }
      let (flat, post) = (posts.posts[1], posts.post(at: 1))
      if let json = flat.tagsJSON {
        try #require(JSONText.text(post.tags) == posts.string(json), TestRandom.replay)
      }
      if let json = flat.countersJSON {
        try #require(JSONText.text(post.counters) == posts.string(json), TestRandom.replay)
      }
      Self.expectNeighbours(posts)
    }
  }
}
