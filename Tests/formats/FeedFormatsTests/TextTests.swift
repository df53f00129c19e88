import Testing

@testable import FeedFormats

struct TextTests {
  @Test(arguments: [
    ("Sat, 07 Sep 2002 00:00:01 GMT", "2002-09-07T00:00:01Z"),
    ("7 Sep 02 00:00 UT", "2002-09-07T00:00:00Z"),
    ("Fri,30 Apr 99 23:59:59 EST", "1999-05-01T04:59:59Z"),
    ("Sat, 02 May 2026 08:30:00 +0200", "2026-05-02T06:30:00Z"),
    ("Sat, 02 May 2026 08:30:00 -0930", "2026-05-02T18:00:00Z"),
    ("Sat, 02 May 2026 08:30:00", "2026-05-02T08:30:00Z"),
    ("2 September 2026 08:30 Z", "2026-09-02T08:30:00Z"),
    ("2026-05-02T08:30:00.5+02:00", "2026-05-02T06:30:00.500Z"),
    ("Mon, 31 Feb 2026 08:30:00 GMT", nil), ("2 May 2026 24:00 GMT", nil),
    ("2 May 2026 08:30 XYZ", nil), ("2 May 2026", nil), ("yesterday", nil), ("", nil),
    ("2026-10-01 08:00:00", "2026-10-01T08:00:00Z"), ("2026-10-01T08:00", "2026-10-01T08:00:00Z"),
    ("2026-10-01 08:00:00.25+02", "2026-10-01T06:00:00.250Z"),
    ("2026-10-01", "2026-10-01T00:00:00Z"),
    ("2011-02-15 00:00:00-05", "2011-02-15T05:00:00Z"),
    ("2011-02-15 00:00:00+00", "2011-02-15T00:00:00Z"),
    ("2026-10-01T08:00Z", "2026-10-01T08:00:00Z"),
    ("2026-10-01T08:00:00+0100", "2026-10-01T07:00:00Z"),
    ("2026-10-01 08:00:00 UTC", "2026-10-01T08:00:00Z"),
    ("2026-10-01 08:00:00.123456789", "2026-10-01T08:00:00.123456Z"),
    ("1343516756", "2012-07-28T23:05:56Z"), ("1343516756123", "2012-07-28T23:05:56.123Z"),
    ("1343516756.5", "2012-07-28T23:05:56.500Z"),
    ("1343516756123456", "2012-07-28T23:05:56.123456Z"),
    ("-1", "1969-12-31T23:59:59Z"), ("0", "1970-01-01T00:00:00Z"),
    ("2026-02-29", nil), ("2026-13-01 08:00:00", nil), ("2026-10-01 24:00:00", nil),
    ("2026-10-01 08", nil), ("2026-10-01 08:00:00 Mars/Olympus", nil),
    ("99999999999999999999", nil),
    ("1 Jan 0000 00:00 +2359", nil), ("31 Dec 9999 23:59 -2359", nil),
  ])
  func `times of standards and of databases are read`(_ text: String, _ expected: String?) {
    let time = FeedDate.time(text, .utc)?.rfc3339UTF8
    #expect(time.map { String(decoding: $0, as: UTF8.self) } == expected, "\(text)")
  }

  @Test(arguments: [
    ("2026-07-01 08:00:00", "2026-07-01T06:00:00Z"), ("2026-07-01", "2026-06-30T22:00:00Z"),
    ("Wed, 01 Jul 2026 08:00:00", "2026-07-01T06:00:00Z"),
    // What says its zone is not moved.
    ("2026-07-01 08:00:00Z", "2026-07-01T08:00:00Z"), ("1343516756", "2012-07-28T23:05:56Z"),
    ("2026-07-01T08:00:00-01:00", "2026-07-01T09:00:00Z"),
  ])
  func `times that name no zone are of the one that is said`(_ text: String, _ expected: String) {
    let zone = LocalTimeZone { _ in 7_200 }
    #expect(FeedDate.time(text, zone)?.rfc3339 == expected)
  }

  @Test(arguments: [0, -1, 1e300, -1e300, .nan, .infinity, 253_402_300_800])
  func `seconds since 1970 are a time or none, and never a trap`(_ seconds: Double) {
    #expect((FeedDate.time(secondsSince1970: seconds) != nil) == (seconds.magnitude < 2))
  }

  @Test(arguments: [
    ("plain", "plain"), ("<p>one</p><p>two</p>", "one\n\ntwo"), ("a<br>b<br/>c", "a\nb\nc"),
    ("a <b>b</b>\n c", "a b c"), ("1 < 2 & 3 > 2", "1 < 2 & 3 > 2"),
    ("&lt;b&gt; &amp;amp; &#8364;&#x20AC; &nosuch; &nbsp;x", "<b> &amp; €€ &nosuch; \u{a0}x"),
    ("<script>if (a<b) alert('<p>')</script>x", "x"), ("<!-- <p>no</p> -->yes", "yes"),
    ("<a title=\"a>b\">link</a>", "link"), ("cut <a href=\"x", "cut"), ("cut <!-- off", "cut"),
    ("<ul><li>a</li><li>b</li></ul>", "a\nb"), ("<td>a</td><td>b</td>", "a b"),
    ("&#0;&#55555555555;", "\u{fffd}\u{fffd}"),
    ("<", "<"), ("&", "&"), ("", ""), ("<style>p{}", ""),
  ])
  func `HTML becomes what a person reads`(_ html: String, _ expected: String) {
    #expect(HTMLText(html).plain == expected)
  }

  @Test(
    arguments: [
      ("https://a.example/x", "https://b.example/", "https://a.example/x"),
      ("../x.jpg", "https://b.example/a/b/", "https://b.example/a/x.jpg"),
      ("/x", "https://b.example/a", "https://b.example/x"),
      ("//c.example/x", "https://b.example/a", "https://c.example/x"),
      ("?q=1", "https://b.example/a?b", "https://b.example/a?q=1"), ("x", nil, "x"),
      ("javascript:alert(1)", "https://b.example/", nil), ("data:image/png;base64,AA", nil, nil),
      ("file:///etc/passwd", nil, nil), ("x", "javascript:1", "x"), (" ", nil, nil),
      ("HTTPS://a.example/", nil, "HTTPS://a.example/"),
    ] as [(String, String?, String?)])
  func `references are relative to where the document is, and of the web`(
    _ reference: String, _ base: String?, _ expected: String?
  ) {
    #expect(WebAddress.resolve(reference, base: base) == expected)
  }

  @Test func `an id is the same for the same parts, and another for others`() {
    let ids = [
      StableID.make(.rss, "a", "b"), StableID.make(.rss, "ab"), StableID.make(.rss, "a", "b", ""),
      StableID.make(.atom, "a", "b"), StableID.make(.rss, "b", "a"),
    ]
    #expect(Set(ids).count == ids.count)
    #expect(ids[0] == StableID.make(.rss, "a", "b"))
    #expect(ids.allSatisfy { $0.utf8.count < 60 })
  }

  @Test(arguments: [
    ("<img src=\"a.png\">", ["a.png"]),
    ("<IMG alt='>' SRC = 'a.png?x=1&amp;y=2' />", ["a.png?x=1&y=2"]),
    ("<img src=a.png alt>x<img>", ["a.png", ""]), ("<img data-src='b' src=\"\">", [""]),
    ("<img / src><img src", ["", ""]), ("<imgsrc=a>", []),
  ])
  func `pictures are known by their sources`(_ html: String, _ sources: [String]) {
    #expect(HTMLText(html).pictures == sources)
  }
}
