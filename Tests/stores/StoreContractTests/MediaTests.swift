import Catalog
import Feed
import TestSupport
import Testing

/// What is known of media files, beside the posts that show them.
@Suite struct MediaTests {
  private static let urls = ["/media/a.mp4", "https://cdn.example/a.mp4", "/media/b.webp"]

  /// Posts p0 to p2 show the file of that number, p3 all of them, p4 none.
  private static let records = (0..<5).map { number in
    let shown = number < 3 ? [urls[number]] : number == 3 ? urls : []
    return SeedRecord.post(
      Post(
        id: "p\(number)", type: .video,
        media: shown.map { Media(kind: .video, url: $0, width: 1, bytes: 7) }),
      placements: [Placement(feed: "a", rank: number)])
  }

  private static func content(_ byte: UInt8) -> MediaVersion {
    .content(sha256: Array(repeating: byte, count: 32))
  }

  private static func truth(_ bytes: Int, _ version: MediaVersion? = nil) -> MediaTruth {
    MediaTruth(
      kind: .video, bytes: bytes, mimeType: "video/mp4", codec: "h264", width: 640, height: 360,
      durationMilliseconds: 2_000,
      placeholder: MediaPlaceholder(
        thumbHash: [1, 2, 3, 4, 5, 6], color: .init(red: 1, green: 2, blue: 3)),
      start: MediaTiming(
        headBytes: 10, curve: [.init(milliseconds: 1_000, bytes: 60)],
        lead: [.init(kilobitsPerSecond: 100, bytes: 50)]),
      version: version ?? content(UInt8(truncatingIfNeeded: bytes)))
  }

  private func loaded(_ kind: StoreKind) throws -> TestStore {
    let test = try TestStore(kind)
    try test.store.load(Self.records)
    return test
  }

  @Test(arguments: StoreKind.allCases)
  func `what is known is kept by URL and by content`(_ kind: StoreKind) throws {
    let test = try loaded(kind)
    let store = test.store
    #expect(try store.media(at: Self.urls) == [nil, nil, nil])
    #expect(try store.media(after: nil, limit: 9) == [])
    let known = [
      KnownMedia(url: Self.urls[0], truth: Self.truth(100), changedNanoseconds: -5),
      KnownMedia(url: Self.urls[1], truth: Self.truth(100)),
      // Of a validator is known what it means at this URL alone.
      KnownMedia(url: Self.urls[2], truth: Self.truth(200, .entityTag("\"x\""))),
      KnownMedia(url: "/nobody's", truth: Self.truth(300, .entityTag("\"x\""))),
    ]
    try store.keep(known)
    #expect(try store.media(at: Self.urls + ["/nobody's"]) == known.map { $0 })
    #expect(try store.truth(ofContent: Array(repeating: 100, count: 32)) == known[0].truth)
    #expect(try store.truth(ofContent: Array(repeating: 1, count: 32)) == nil)
    let inOrder = [known[0], known[2], known[3], known[1]]
    #expect(try store.media(after: nil, limit: 9) == inOrder)
    #expect(try store.media(after: Self.urls[2], limit: 1) == [known[3]])
    #expect(try store.media(after: Self.urls[1], limit: 1) == [])
  }

  @Test(arguments: StoreKind.allCases)
  func `that files are unavailable is kept, until something is known of one`(
    _ kind: StoreKind
  ) throws {
    let test = try loaded(kind)
    let store = test.store
    let gone = Self.urls.map { KnownMedia(url: $0, truth: .unavailable) }
    try store.keep(gone)
    #expect(try store.media(at: Self.urls) == gone.map { $0 })
    let item = try #require(try store.item(withID: "p3"))
    #expect(item.truths == [.unavailable, .unavailable, .unavailable])
    #expect(item.post.media.map(\.bytes) == [7, 7, 7])
    let posts = try store.posts(try store.cut(PageQuery(feed: "a")).posts)
    #expect(posts.mediaLoads[0].bytes == 0)
    let known = KnownMedia(url: Self.urls[0], truth: Self.truth(100))
    try store.keep([known])
    try store.forget([Self.urls[1]])
    #expect(try store.media(at: Self.urls) == [known, nil, gone[2]])
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `files of ours that posts name are told once each, in order`(_ kind: StoreKind) throws {
    let test = try loaded(kind)
    #expect(try test.store.namedMedia(after: nil, limit: 9) == [Self.urls[0], Self.urls[2]])
    #expect(try test.store.namedMedia(after: nil, limit: 1) == [Self.urls[0]])
    #expect(try test.store.namedMedia(after: Self.urls[0], limit: 9) == [Self.urls[2]])
    #expect(try test.store.namedMedia(after: Self.urls[2], limit: 9) == [])
  }

  @Test(arguments: StoreKind.allCases)
  func `posts that name files are told once each, in order`(_ kind: StoreKind) throws {
    let test = try loaded(kind)
    let store = test.store
    let all = try store.posts(naming: Self.urls, limit: 100)
    #expect(all.contains("p3") && all == Array(Set(all)).sorted())
    for count in 0...all.count + 1 {
      #expect(try store.posts(naming: Self.urls, limit: count) == Array(all.prefix(count)))
    }
    #expect(try store.posts(naming: [Self.urls[0], Self.urls[0]], limit: 9).contains("p3"))
    #expect(try store.posts(naming: [], limit: 9) == [])
    #expect(try store.posts(naming: [Self.urls[0] + "x", "/media/"], limit: 9) == [])
  }

  @Test(arguments: StoreKind.allCases)
  func `posts show what is known of their files, and records do not`(_ kind: StoreKind) throws {
    let test = try loaded(kind)
    let store = test.store
    let truth = Self.truth(100)
    let export = try store.records()
    try store.keep([KnownMedia(url: Self.urls[0], truth: truth)])
    let posts = try store.posts(try store.cut(PageQuery(feed: "a")).posts)
    #expect(posts.truths == [truth, truth])
    #expect(posts.media.map(\.truth) == [0, nil, nil, 1, nil, nil])
    #expect(posts.mediaLoads[0].bytes == 100 && posts.mediaLoads[0].timing == truth.start)
    #expect(posts.mediaLoads[1].bytes == 7 && posts.mediaLoads[1].timing == nil)
    #expect(try store.item(withID: "p3")?.truths == [truth, nil, nil])
    #expect(try store.item(withID: "p3")?.post.media.map(\.bytes) == [7, 7, 7])
    #expect(try store.records() == export)
  }

  @Test(arguments: StoreKind.allCases)
  func `the posts that show a file have changed, and no others`(_ kind: StoreKind) throws {
    let test = try loaded(kind)
    let store = test.store
    let other = try test.again()
    func changed(_ body: () throws -> Void) throws -> [String] {
      let before = (store.version, other.version)
      try body()
      try other.refresh()
      let numbers = try #require(store.changedPosts(since: before.0))
      #expect(Set(try #require(other.changedPosts(since: before.1))) == Set(numbers))
      return try store.posts(numbers.sorted()).allPosts.map(\.id)
    }
    // Both have read what there is.
    for each in [store, other] { _ = try each.cut(PageQuery(feed: "a")) }
    let known = KnownMedia(url: Self.urls[0], truth: Self.truth(100))
    #expect(try changed { try store.keep([known]) } == ["p0", "p3"])
    #expect(try changed { try store.keep([known]) } == [])
    var later = known
    later.changedNanoseconds = 5
    #expect(try changed { try store.keep([later]) } == [])
    let copy = KnownMedia(url: Self.urls[1], truth: known.truth)
    #expect(try changed { try store.keep([copy]) } == ["p1", "p3"])
    // More is known of the same content: wherever it lies.
    var more = copy
    more.truth.hasSound = true
    #expect(try changed { try store.keep([more]) } == ["p0", "p1", "p3"])
    #expect(try store.media(at: [Self.urls[0]])[0]?.truth == more.truth)
    // Another content.
    let replaced = KnownMedia(url: Self.urls[0], truth: Self.truth(101))
    #expect(try changed { try store.keep([replaced]) } == ["p0", "p3"])
    #expect(try changed { try store.forget([Self.urls[1], "/unknown"]) } == ["p1", "p3"])
    #expect(try store.truth(ofContent: Array(repeating: 100, count: 32)) == nil)
    #expect(try store.media(after: nil, limit: 9) == [replaced])
    try test.expectSound()
  }

  private static func variant(_ url: String, _ bytes: Int) -> MediaVariant {
    MediaVariant(
      url: url,
      truth: MediaTruth(
        kind: .video, bytes: bytes, mimeType: "video/mp4", width: 320, height: 180,
        durationMilliseconds: 2_000, version: content(UInt8(truncatingIfNeeded: bytes))))
  }

  @Test(arguments: StoreKind.allCases)
  func `variants are those at a URL, whatever others of the same content have`(_ kind: StoreKind)
    throws
  {
    let test = try loaded(kind)
    let store = test.store
    let export = try store.records()
    _ = try store.cut(PageQuery(feed: "a"))
    var known = KnownMedia(url: Self.urls[0], truth: Self.truth(100))
    let copy = KnownMedia(url: Self.urls[1], truth: Self.truth(100))
    try store.keep([known, copy])
    func changed(_ body: () throws -> Void) throws -> [String] {
      let before = store.version
      try body()
      let numbers = try #require(store.changedPosts(since: before))
      return try store.posts(numbers.sorted()).allPosts.map(\.id)
    }
    known.truth.variants = [
      Self.variant("/media/_/a.mp4", 40), Self.variant("/media/_/b.mp4", 60),
    ]
    #expect(try changed { try store.keep([known]) } == ["p0", "p3"])
    #expect(try changed { try store.keep([known]) } == [])
    #expect(try store.media(at: [Self.urls[0], Self.urls[1]]) == [known, copy])
    #expect(try store.media(after: nil, limit: 1) == [known])
    #expect(try store.truth(ofContent: Array(repeating: 100, count: 32)) == copy.truth)
    // More of the content is known at its other URL: that changes no variants.
    var more = copy
    more.truth.hasSound = true
    #expect(try changed { try store.keep([more]) } == ["p0", "p1", "p3"])
    known.truth.hasSound = true
    #expect(try store.media(at: [Self.urls[0], Self.urls[1]]) == [known, more])
    let posts = try store.posts(try store.cut(PageQuery(feed: "a")).posts)
    #expect(posts.truths == [known.truth, more.truth, known.truth, more.truth])
    #expect(posts.mediaLoads[0].variants.map(\.bytes) == [40, 60])
    #expect(posts.mediaLoads[0].width == 640 && posts.mediaLoads[1].width == nil)
    #expect(try store.item(withID: "p0")?.truths == [known.truth])
    #expect(try store.records() == export)
    // Another content in the same place has none until somebody looks.
    let replaced = KnownMedia(url: Self.urls[0], truth: Self.truth(101))
    #expect(try changed { try store.keep([replaced]) } == ["p0", "p3"])
    #expect(try store.media(at: [Self.urls[0]]) == [replaced])
    try test.expectSound()
  }

  @Test(arguments: StoreKind.allCases)
  func `a post that comes later shows what was known before`(_ kind: StoreKind) throws {
    let test = try loaded(kind)
    let store = test.store
    let truth = Self.truth(100)
    try store.keep([KnownMedia(url: "/media/new.mp4", truth: truth)])
    let post = Post(id: "new", type: .video, media: [Media(kind: .video, url: "/media/new.mp4")])
    try store.outcome(of: ItemWrite(id: "new", change: .put(post, placements: nil)))
    #expect(try store.item(withID: "new")?.truths == [truth])
    try store.outcome(of: ItemWrite(id: "new", change: .delete))
    #expect(try store.media(at: ["/media/new.mp4"])[0]?.truth == truth)
  }

  @Test(arguments: StoreKind.allCases)
  func `URLs are bytes, and nothing is kept of what has no version or cannot be`(_ kind: StoreKind)
    throws
  {
    let test = try loaded(kind)
    let store = test.store
    let (composed, decomposed) = ("/media/caf\u{e9}", "/media/cafe\u{301}")
    try store.keep([KnownMedia(url: composed, truth: Self.truth(61))])
    #expect(try store.media(at: [composed, decomposed]).map { $0?.truth.bytes } == [61, nil])
    var unknown = Self.truth(62)
    unknown.version = nil
    #expect(throws: MediaStoreError.noVersion(url: "/b")) {
      try store.keep([
        KnownMedia(url: "/a", truth: Self.truth(63)), KnownMedia(url: "/b", truth: unknown),
      ])
    }
    var impossible = Self.truth(64)
    impossible.start?.headBytes = 65
    #expect(throws: MediaStoreError.self) {
      try store.keep([KnownMedia(url: "/b", truth: impossible)])
    }
    impossible = Self.truth(65)
    impossible.width = RecordLimits.pixels + 1
    #expect(
      throws: MediaStoreError.impossible(
        url: "/b", problem: "width 1000001 is not in 1…1000000")
    ) { try store.keep([KnownMedia(url: "/b", truth: impossible)]) }
    var nameless = Self.truth(66)
    nameless.variants = [Self.variant("/c", 20), Self.variant("/d", 10)]
    #expect(
      throws: MediaStoreError.impossible(
        url: "/b", problem: "its variants are not in order of size")
    ) { try store.keep([KnownMedia(url: "/b", truth: nameless)]) }
    nameless.variants = [Self.variant("", 20)]
    #expect(throws: MediaStoreError.self) {
      try store.keep([KnownMedia(url: "/b", truth: nameless)])
    }
    #expect(try store.media(after: nil, limit: 9).count == 1)
  }
}

extension FeedStore {
  fileprivate func records() throws -> [SeedRecord] {
    var records: [SeedRecord] = []
    try exportRecords { records.append($0) }
    return records
  }
}
