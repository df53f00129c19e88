import Feed
import Seeding
import TestSupport
import Testing

struct PostGeneratorTests {
  static func records(_ count: Int, seed: UInt64) -> [SeedRecord] {
    Array(PostGenerator(count: count, seed: seed))
  }

  static func posts(_ count: Int, seed: UInt64) -> [Post] {
    records(count, seed: seed).compactMap { record in
      if case .post(let post, _) = record { post } else { nil }
    }
  }

  static func placements(_ count: Int, seed: UInt64) -> [Placement] {
    records(count, seed: seed).flatMap { record in
      if case .post(_, let placements) = record { placements } else { [] as [Placement] }
    }
  }

  @Test func `the same seed makes the same posts and another seed others`() {
    #expect(Self.records(300, seed: 1) == Self.records(300, seed: 1))
    #expect(Self.records(300, seed: 1).map(\.json) == Self.records(300, seed: 1).map(\.json))
    #expect(Self.records(300, seed: 1) != Self.records(300, seed: 2))
  }

  @Test(arguments: [0, 1, 19, 300], TestRandom.seeds)
  func `there are as many posts as asked for, each once`(count: Int, seed: UInt64) {
    let posts = Self.posts(count, seed: seed)
    #expect(posts.count == count)
    #expect(Set(posts.map(\.id)).count == count)
  }

  static let occurring: [(String, @Sendable (Post) -> Bool)] =
    PostType.allCases.map { type in (type.rawValue, { $0.type == type }) } + [
      ("no title", { $0.title == nil }), ("a title", { $0.title != nil }),
      ("no text", { $0.text == nil }), ("a text", { $0.text != nil }),
      ("no time", { $0.publishedAt == nil }), ("a time", { $0.publishedAt != nil }),
      ("no author", { $0.author == nil }), ("an author", { $0.author?.name != nil }),
      ("an author without a name", { $0.author != nil && $0.author?.name == nil }),
      ("no thumbnail", { $0.thumbnail == nil }), ("a thumbnail", { $0.thumbnail != nil }),
      ("no tags", { $0.tags.isEmpty }), ("tags", { $0.tags.count > 1 }),
      ("no counters", { $0.counters.isEmpty }), ("counters", { $0.counters.count > 1 }),
      ("no media", { $0.media.isEmpty }), ("several media", { $0.media.count > 1 }),
      (
        "a video of no known duration",
        hasMedia { $0.kind == .video && $0.durationMilliseconds == nil }
      ),
      ("a video of known duration", hasMedia { $0.durationMilliseconds != nil }),
      ("no MIME type", hasMedia { $0.mimeType == nil }),
      ("a MIME type", hasMedia { $0.mimeType != nil }),
      ("no codec", hasMedia { $0.kind == .video && $0.codec == nil }),
      ("a codec", hasMedia { $0.codec != nil }),
      ("no size", hasMedia { $0.bytes == nil }), ("a size", hasMedia { $0.bytes != nil }),
      ("no dimensions", hasMedia { $0.width == nil && $0.height == nil }),
      ("wide", hasMedia { ($0.width ?? 0) > ($0.height ?? 0) }),
      ("tall", hasMedia { ($0.width ?? 0) < ($0.height ?? 0) }),
      (
        "a video within a carousel",
        { $0.type == .carousel && $0.media.contains { $0.kind == .video } }
      ),
    ]

  private static func hasMedia(_ holds: @escaping @Sendable (Media) -> Bool)
    -> @Sendable (Post) -> Bool
  {
    { $0.media.contains(where: holds) }
  }

  static let sample = posts(2_000, seed: 1)

  @Test(arguments: occurring)
  func `everything that a feed may hold occurs in 2000 posts`(
    _ name: String, _ holds: @Sendable (Post) -> Bool
  ) {
    let count = Self.sample.count(where: holds)
    #expect(count > 0)
    #expect(count < Self.sample.count)
  }

  @Test func `times and ranks fall together now and then, and feeds are with and without ranks`() {
    let times = Self.sample.compactMap(\.publishedAt)
    #expect(Set(times).count < times.count)
    let placements = Self.placements(2_000, seed: 1)
    let ranks = placements.compactMap(\.rank)
    #expect(Set(ranks).count < ranks.count)
    #expect(ranks != ranks.sorted())
    #expect(Set(placements.map(\.feed)) == ["featured", "newest", "videos"])
    #expect(placements.allSatisfy { ($0.rank != nil) == ($0.feed == "featured") })
  }

  @Test func `the media of a post are what its type says`() {
    for post in Self.sample {
      switch post.type {
      case .image, .ad: #expect(post.media.map(\.kind) == [.image])
      case .video: #expect(post.media.map(\.kind) == [.video])
      case .audio: #expect(post.media.map(\.kind) == [.audio])
      case .carousel: #expect(post.media.count > 1)
      case .webapp, .text: #expect(post.media.isEmpty)
      }
    }
  }
}
