import Testing

@testable import FeedFormats

struct CSVTests {
  private func read(_ text: String, _ map: [String], limit: Int = 1 << 20, feed: String? = nil)
    throws -> [String]
  {
    let columns = try map.map { try ColumnMapping($0) }
    let settings = FormatSettings(recordLimitBytes: limit, columns: columns, feed: feed)
    return Reading(text, .csv, settings: settings).records
  }

  @Test(arguments: [
    ("comma and CRLF", "id,title\r\n1,a\r\n2,b", ["2: 1 a", "3: 2 b"]),
    ("semicolon", "id;title\n1;a,b\n", ["2: 1 a,b"]), ("tab", "id\ttitle\n1\ta;b\n", ["2: 1 a;b"]),
    ("byte order mark", "\u{feff}id,title\n1,a\n", ["2: 1 a"]),
    (
      "quotation marks", "id,title\n1,\"a, \"\"b\"\"\nc\"\n2,d\n",
      ["2: 1 a, \\\"b\\\"\\nc", "4: 2 d"]
    ),
    ("empty lines", "id,title\n\n1,a\n\n", ["3: 1 a"]),
    ("CR alone", "id,title\r1,a\r2,b\r", ["2: 1 a", "3: 2 b"]),
    ("header in quotation marks", "\"id\",\"title\"\n1,a\n", ["2: 1 a"]),
    ("too few", "id,title\n1\n2,b\n", ["2: !the row has 1 fields, the header 2", "3: 2 b"]),
    ("too many", "id,title\n1,a,b\n", ["2: !the row has 3 fields, the header 2"]),
    (
      "behind a quotation mark", "id,title\n1,\"a\"b,\n2,b\n",
      ["2: !unexpected text after a quoted field", "3: 2 b"]
    ),
    (
      "within a field", "id,title\n1,a\"b\n2,b\n",
      ["2: !unexpected quotation mark in an unquoted field", "3: 2 b"]
    ),
    (
      "cut off", "id,title\n1,\"a",
      ["2: !the input ends within a quoted field: it is incomplete"]
    ),
    ("nothing", "", []), ("a header alone", "id,title\n", []),
    (
      "no such column", "id,titel\n1,a\n",
      [
        "1: !there is no column \"title\"; the columns are id, titel; the fields are \(ColumnField.known)"
      ]
    ),
  ])
  func `rows are read as RFC 4180 has them`(
    _ name: String, _ text: String, _ expected: [String]
  ) throws {
    let records = try read(text, ["id=id", "title=title"]).map {
      $0.replacing("{\"id\":\"", with: "").replacing("\",\"type\":\"text\",\"title\":\"", with: " ")
        .replacing("\"}", with: "")
    }
    #expect(records == expected, "\(name)")
  }

  @Test(arguments: [
    ("rank", "x", "rank: \"x\" is not a whole number"),
    ("type", "poem", "type: \"poem\" is not one of image"),
    ("publishedAt", "soon", "publishedAt: \"soon\" is not a time"),
    ("visibleUntil", "later", "visibleUntil: \"later\" is not a time"),
    ("media.width", "-1", "media[0].width: -1 is not in"),
    ("counters.likes", "1.5", "counters.likes: \"1.5\" is not a whole number"),
    ("rank", "1", "rank: needs a feed"),
    ("id", "\u{1}", "id: contains a control character"),
  ])
  func `what a field cannot be is refused by its name`(
    _ field: String, _ value: String, _ expected: String
  ) throws {
    let records = try read(
      "a,p\n\(value),https://m.example/x.jpg\n", ["a=\(field)", "p=media.url"])
    #expect(records.count == 1 && records[0].contains(expected), "\(records)")
  }

  @Test func `schedules have columns, in the zone of times`() throws {
    let records = try read(
      "n,from,until\n1,2026-11-27 08:00:00,1795852800\n2,,\n3,2026-11-27,2026-11-26\n",
      ["n=id", "from=visibleFrom", "until=visibleUntil"])
    #expect(records[0].contains(#""visibleFrom":"2026-11-27T08:00:00Z""#), "\(records)")
    #expect(records[0].contains(#""visibleUntil":"2026-11-28T08:00:00Z""#), "\(records)")
    #expect(records[1] == #"3: {"id":"2","type":"text"}"#)
    #expect(records[2].hasPrefix("4: !") && records[2].contains("visibleUntil"), "\(records)")
  }

  @Test func `several files, authors, ranks and feeds have columns of their own`() throws {
    let records = try read(
      "n,r,by,u,v,k,f\n1,3,Ada,https://m.example/a.mp4,/media/b,image,g\n",
      [
        "n=id", "r=rank", "by=author.name", "u=media[0].url", "v=media[1].url", "k=media[1].kind",
        "f=feed",
      ], feed: "f")
    let expected = """
      2: {"id":"1","feeds":[{"name":"g","rank":3}],"type":"carousel","author":{"name":"Ada"},\
      "media":[{"kind":"video","url":"https://m.example/a.mp4"},{"kind":"image","url":"/media/b"}]}
      """
    #expect(records == [expected])
  }

  @Test func `a row beyond the limit, or not in UTF-8, is refused and the next one is read`() throws
  {
    let long = String(repeating: "x", count: 300)
    let records = try read("id,title\n1,\(long)\n2,b\n", ["id=id", "title=title"], limit: 100)
    #expect(records.count == 2 && records[0] == "2: !the record has more than 100 bytes")
    let columns = [try ColumnMapping("id=id")]
    let latin = Reading(
      Array("id,t\n1,".utf8) + [0xe9] + Array("\n2,b\n".utf8), .csv,
      settings: FormatSettings(recordLimitBytes: 100, columns: columns))
    #expect(latin.records.count == 2 && latin.records[0] == "2: !is not UTF-8")
  }

  @Test func `a row without an id is known by its URL, or by all that it says`() throws {
    func id(_ row: String) throws -> String {
      let records = try read("t,u\n\(row)\n", ["t=title", "u=url"])
      return String(try #require(records.first?.split(separator: "\"").dropFirst(3).first))
    }
    #expect(try id("a,https://x.example/1") == id("b,https://x.example/1"))
    #expect(try id("a,") != id("b,"))
    #expect(try id("a,") == id("a,"))
  }

  @Test(arguments: [
    "title", "=title", "a=", "a=poem", "a=media[100].url", "a=media[0].taste", "a=counters.",
  ])
  func `a mapping that says nothing is refused`(_ text: String) {
    #expect(throws: ColumnMappingError.self) { try ColumnMapping(text) }
  }
}
