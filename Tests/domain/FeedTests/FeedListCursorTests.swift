import TestSupport
import Testing

import Feed

@Suite struct FeedListCursorTests {
  @Test(arguments: TestRandom.seeds)
  func `any cursor reads back as itself`(seed: UInt64) throws {
    var random = TestRandom(seed)
    let names = (0..<500).map { _ in FeedListCursor.name("n" + random.text(0...99)) }
    for cursor in [.start, .end] + names {
      #expect(try FeedListCursor(text: cursor.text) == cursor, TestRandom.replay)
    }
  }

  @Test func `names that differ in their bytes alone are two places`() {
    #expect(FeedListCursor.name("\u{e9}") != .name("e\u{301}"))
  }

  @Test func `a damaged cursor is refused wherever it is damaged`() throws {
    let text = FeedListCursor.name("featured").text
    for index in text.indices {
      let letter: Character = text[index] == "A" ? "B" : "A"
      let damaged = text.replacingCharacters(at: index, with: letter)
      #expect(throws: CursorTextError.damaged) { try FeedListCursor(text: damaged) }
    }
    for text in ["", "A", "AAAA", String(text.dropLast()), text + "A", "\u{e9}"] {
      #expect(throws: CursorTextError.damaged) { try FeedListCursor(text: text) }
    }
  }

  @Test func `a cursor of a feed's items is none of the list, and the other way round`() {
    let position = Position(key: SortKey(rawValue: 7), id: "p")
    let items = Cursor(
      feed: "f", view: .ranking(1), anchor: .position(position), seen: .start)
    #expect(throws: CursorTextError.damaged) { try FeedListCursor(text: items.text) }
    #expect(throws: CursorTextError.damaged) { try Cursor(text: FeedListCursor.name("f").text) }
  }
}

extension String {
  fileprivate func replacingCharacters(at index: Index, with letter: Character) -> String {
    String(self[..<index]) + String(letter) + String(self[self.index(after: index)...])
  }
}
