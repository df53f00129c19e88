import Feed
import Testing

struct SortKeyTests {
  static func key(rank: Int? = nil, _ time: String? = nil) throws -> SortKey {
    SortKey(rank: rank, publishedAt: try time.map { try Timestamp(rfc3339: $0) })
  }

  @Test func `ranked stand above timed, and timed above undated`() throws {
    let keys = [
      try Self.key(rank: 0), try Self.key(rank: 1, "2012-07-28T23:05:56Z"), try Self.key(rank: 2),
      try Self.key(rank: SortKey.rankRange.upperBound),
      SortKey(rank: nil, publishedAt: .latest),
      try Self.key("2024-01-01T00:00:00.000001Z"), try Self.key("2024-01-01T00:00:00Z"),
      try Self.key("1970-01-01T00:00:00Z"), try Self.key("1969-12-31T23:59:59.999999Z"),
      SortKey(rank: nil, publishedAt: .earliest),
      try Self.key(),
    ]
    for (above, below) in zip(keys, keys.dropFirst()) {
      #expect(above < below)
      #expect(!(below < above))
      #expect(above != below)
    }
  }

  @Test func `a rank hides the time`() throws {
    #expect(try Self.key(rank: 7, "2012-07-28T23:05:56Z") == Self.key(rank: 7))
  }

  @Test func `a stored key is the same key`() throws {
    let key = try Self.key("2012-07-28T23:05:56Z")
    #expect(SortKey(rawValue: key.rawValue) == key)
    #expect(try Self.key(rank: 42).rawValue == 42)
  }
}

struct PositionTests {
  static func position(_ rank: Int, _ id: String) -> Position {
    Position(key: SortKey(rank: rank, publishedAt: nil), id: id)
  }

  @Test func `the key decides before the id`() {
    #expect(Self.position(1, "z") < Self.position(2, "a"))
    #expect(!(Self.position(2, "a") < Self.position(1, "z")))
  }

  /// UTF-8 bytes, and so neither Swift's order nor a language's.
  @Test func `equal keys are ordered by the bytes of the id`() {
    let ids = [
      "", "\0", "1", "10", "2", "A", "Z", "a", "a\0", "aa", "b", "e\u{301}", "z", "\u{e9}",
      "\u{ffff}", "\u{1f600}",
    ]
    for (index, above) in ids.enumerated() {
      for below in ids[(index + 1)...] {
        #expect(Self.position(1, above) < Self.position(1, below))
        #expect(!(Self.position(1, below) < Self.position(1, above)))
        #expect(Self.position(1, above) != Self.position(1, below))
      }
      #expect(!(Self.position(1, above) < Self.position(1, above)))
    }
  }

  @Test func `canonically equivalent ids are different places`() {
    let composed = Self.position(1, "\u{e9}")
    let decomposed = Self.position(1, "e\u{301}")
    #expect(composed.id == decomposed.id)
    #expect(composed != decomposed)
    #expect(decomposed < composed)
    #expect(!(composed < decomposed))
    #expect(Set([composed, decomposed, composed]).count == 2)
  }
}
