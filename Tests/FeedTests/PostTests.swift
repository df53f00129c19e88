import Feed
import Testing

struct PostTests {
  @Test func `counters stand in the order of their names' bytes`() {
    let post = Post(
      id: "a", type: .text,
      counters: [
        Counter("views", 3), Counter("\u{e9}", 4), Counter("Zaps", 1), Counter("likes", 2),
      ])
    #expect(post.counters.map(\.value) == [1, 2, 3, 4])
  }

  @Test func `each media file has a name of its own`() {
    let post = Post(id: "a.b", type: .carousel)
    #expect(post.mediaID(at: 0) == "a.b.0")
    #expect(post.mediaID(at: 11) == "a.b.11")
  }

  @Test func `an error of a record names the field where there is one`() {
    #expect(
      RecordError(field: "media[0].width", problem: "is bad").description
        == "media[0].width: is bad")
    #expect(RecordError(field: "", problem: "is not JSON").description == "is not JSON")
  }

  @Test func `a query names the rankings that its cursors need`() {
    func cursor(_ view: Cursor.View) -> Cursor {
      Cursor(feed: "f", view: view, anchor: .start, seen: .start)
    }
    func rankings(_ start: PageQuery.Start) -> [Int] {
      PageQuery(feed: "f", start: start).rankings
    }
    #expect(rankings(.top) == [])
    #expect(rankings(.around(.offset(3), leading: 1, trailing: 1)) == [])
    #expect(rankings(.after(cursor(.ranking(3)))) == [3])
    #expect(rankings(.before(cursor(.newer(than: 4)))) == [4])
    #expect(rankings(.before(cursor(.arrivals(from: 4, to: 6)))) == [4, 6])
    #expect(
      rankings(.between(after: cursor(.ranking(1)), before: cursor(.arrivals(from: 1, to: 2))))
        == [1, 1, 2])
  }
}
