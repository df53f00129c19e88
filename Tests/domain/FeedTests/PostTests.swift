import Feed
import Testing

struct PostTests {
  @Test func `types and kinds have their raw values as names`() {
    for type in PostType.allCases { #expect(type.name.description == type.rawValue) }
    for kind in MediaKind.allCases { #expect(kind.name.description == kind.rawValue) }
  }

  @Test func `counters stand in the order of their names' bytes`() {
    let post = Post(
      id: "a", type: .text,
      counters: [
        Counter("views", 3), Counter("\u{e9}", 4), Counter("Zaps", 1), Counter("likes", 2),
      ])
    #expect(post.counters.map(\.value) == [1, 2, 3, 4])
  }

  @Test func `an error of a record names the field where there is one`() {
    #expect(
      RecordError(field: "media[0].width", problem: "is bad").description
        == "media[0].width: is bad")
    #expect(RecordError(field: "", problem: "is not JSON").description == "is not JSON")
  }

  @Test func `a query names the rankings that its cursors need beside the current one`() {
    func cursor(_ view: Cursor.View) -> Cursor {
      Cursor(feed: "f", view: view, anchor: .start, seen: .start)
    }
    func rankings(_ start: PageQuery.Start, beside current: Int = 9) -> [Int] {
      PageQuery(feed: "f", start: start).rankings(beside: current)
    }
    #expect(rankings(.top) == [])
    #expect(rankings(.around(.offset(3), leading: 1, trailing: 1)) == [])
    #expect(rankings(.after(cursor(.ranking(3)))) == [3])
    #expect(rankings(.before(cursor(.newer(than: 4)))) == [4])
    #expect(rankings(.before(cursor(.arrivals(from: 4, to: 6)))) == [4, 6])
    #expect(
      rankings(.between(after: cursor(.ranking(1)), before: cursor(.arrivals(from: 1, to: 2))))
        == [1, 1, 2])
    #expect(rankings(.after(cursor(.ranking(3))), beside: 3) == [])
    #expect(rankings(.before(cursor(.arrivals(from: 4, to: 6))), beside: 6) == [4])
  }

  /// A post with a text at each place that there is.
  static func post(_ change: (inout Post) -> Void = { _ in }) -> Post {
    let text = "\u{e9}"
    var post = Post(
      id: text, type: .text, title: text, text: text, language: text,
      author: Author(id: text, name: text, avatar: text, extra: Extra(checkedJSON: text)),
      url: text, thumbnail: text, tags: [text], counters: [Counter(text, 1)],
      extra: Extra(checkedJSON: text),
      media: [
        Media(
          kind: .image, url: text, alt: text, poster: text, mimeType: text, codec: text,
          extra: Extra(checkedJSON: text))
      ])
    change(&post)
    return post
  }

  static let texts: [WritableKeyPath<Post, String?> & Sendable] = [
    \.title, \.text, \.language, \.url, \.thumbnail, \.author!.id, \.author!.name, \.author!.avatar,
    \.media[0].alt, \.media[0].poster, \.media[0].mimeType, \.media[0].codec,
  ]
  static let extras: [WritableKeyPath<Post, Extra?> & Sendable] = [
    \.extra, \.author!.extra, \.media[0].extra,
  ]
  static let names: [WritableKeyPath<Post, String> & Sendable] = [
    \.id, \.tags[0], \.counters[0].name, \.media[0].url,
  ]

  @Test func `posts that differ in the bytes of a text are not equal`() {
    #expect(Self.post() == Self.post())
    #expect(Self.post() != Self.post { $0.type = .ad })
    let decomposed = "e\u{301}"
    let changed =
      Self.texts.map { path in Self.post { $0[keyPath: path] = decomposed } }
      + Self.names.map { path in Self.post { $0[keyPath: path] = decomposed } }
      + Self.extras.map { path in
        Self.post { $0[keyPath: path] = Extra(checkedJSON: decomposed) }
      }
    for post in changed {
      #expect(post != Self.post())
      #expect(Set([post, Self.post(), post]).count == 2)
      #expect(post == post)
    }
  }
}
