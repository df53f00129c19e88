import TestSupport
import Testing

import Feed

struct FlatPostsTests {
  static func text(_ random: inout TestRandom) -> String {
    let letters = ["a", "Z", "\"", "\\", "\n", "\u{e9}", "e\u{301}", "\u{1f600}"]
    return (0..<random.number(1...20)).map { _ in random.one(of: letters) }.joined()
  }

  static func post(_ random: inout TestRandom) -> Post {
    func perhaps<Value>(_ make: (inout TestRandom) -> Value) -> Value? {
      random.once(in: 3) ? nil : make(&random)
    }
    var post = Post(id: text(&random), type: random.one(of: PostType.allCases))
    post.title = perhaps(text)
    post.text = perhaps(text)
    post.publishedAt = perhaps { Timestamp(microseconds: Int64($0.number(-9_999...9_999))) }
    post.visibleFrom = perhaps { Timestamp(microseconds: Int64($0.number(-9_999...9_999))) }
    post.visibleUntil = perhaps { Timestamp(microseconds: Int64($0.number(-9_999...9_999))) }
    post.author = perhaps { random in Author(avatar: text(&random)) }
    post.author?.id = perhaps(text)
    post.author?.name = perhaps(text)
    post.author?.extra = perhaps(extra)
    post.language = perhaps(text)
    post.extra = perhaps(extra)
    post.url = perhaps(text)
    post.thumbnail = perhaps(text)
    post.tags = (0..<random.number(0...3)).map { _ in text(&random) }
    post.counters = (0..<random.number(0...3)).map { Counter("n\($0)", random.number(-9...9)) }
    post.media = (0..<random.number(0...4)).map { _ in
      Media(
        kind: random.one(of: MediaKind.allCases), url: text(&random), alt: perhaps(text),
        poster: perhaps(text), mimeType: perhaps(text),
        codec: perhaps(text), width: perhaps { $0.number(1...9) },
        height: perhaps { $0.number(1...9) }, durationMilliseconds: perhaps { $0.number(0...9) },
        bytes: perhaps { $0.number(0...9) },
        placeholder: perhaps { MediaPlaceholder(thumbHash: [UInt8($0.number(0...255))]) },
        extra: perhaps(extra))
    }
    return post
  }

  /// It is not looked at here.
  private static func extra(_ random: inout TestRandom) -> Extra {
    Extra(checkedJSON: text(&random))
  }

  @Test(arguments: TestRandom.seeds)
  func `every post comes out as it went in, whatever lies beside it`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<200 {
      let posts = (0..<random.number(0...9)).map { _ in Self.post(&random) }
      var flat = FlatPosts(reservingPosts: random.number(0...3), bytes: 10)
      for (index, post) in posts.enumerated() { flat.append(post, number: Int64(index) + 7) }
      try #require(flat.count == posts.count, TestRandom.replay)
      try #require(
        flat.allPosts == posts, TestRandom.replay)
      try #require(flat.posts.map(\.number) == posts.indices.map { Int64($0) + 7 })
      for (index, post) in posts.enumerated() {
        try #require(
          Array(flat.mediaLoads[flat.media(of: index)]) == post.media.map(MediaLoad.init),
          TestRandom.replay)
      }
    }
  }

  @Test func `a part of a text is counted from its start`() {
    var posts = FlatPosts()
    _ = posts.add(text: "before")
    let whole = posts.add(text: #"["one","two"]"#)
    #expect(posts.string(whole.part(2..<5)) == "one")
    #expect(posts.string(whole.part(8..<11)) == "two")
    #expect(posts.string(whole.part(0..<0)) == "")
  }
}
