import FeedFormats
import Testing

struct XMLFeedTests {
  private func rss(_ items: String, head: String = "") -> String {
    """
    <?xml version="1.0"?>\(head)<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>
    <link>https://n.example/</link>\(items)</channel></rss>
    """
  }

  private func problem(_ text: String, _ format: FeedFormat = .rss, limit: Int = 1 << 20) -> String?
  {
    let settings = FormatSettings(recordLimitBytes: limit)
    return Reading(text, format, settings: settings).records.last { $0.contains(": !") }
  }

  @Test(arguments: [
    "<!DOCTYPE rss [<!ENTITY x \"y\">]>",
    "<!DOCTYPE rss [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>",
    "<!DOCTYPE rss [<!ENTITY % x SYSTEM \"https://evil.example/x.dtd\"> %x;]>",
    "<!DOCTYPE rss [<!ENTITY x \"&y;&y;\"><!ENTITY y \"&z;&z;\">]>",
  ])
  func `a document that declares an entity is refused, whatever it would become`(_ head: String) {
    let text = rss("<item><title>&x;</title></item>", head: head)
    #expect(problem(text)?.contains("declares the entity") == true)
    #expect(Reading(text, .rss).records.count == 1)
  }

  @Test func `a document type elsewhere is not fetched, and HTML's entities are known`() {
    let head = "<!DOCTYPE rss SYSTEM \"https://evil.example/rss.dtd\">"
    let good = Reading(rss("<item><title>a&eacute;b</title></item>", head: head), .rss).records
    #expect(good.count == 1 && good[0].contains("\"title\":\"aéb\""), "\(good)")
    #expect(
      problem(rss("<item><title>&no;</title></item>", head: head))?.contains("\"no\"") == true)
    #expect(problem(rss("<item><title>&no;</title></item>"))?.contains("undefined entity") == true)
  }

  @Test(arguments: [
    ("", "no element found"), ("<rss><channel></rss>", "mismatched tag"),
    ("<feed xmlns=\"http://www.w3.org/2005/Atom\"/>", "root is <feed>"),
    ("text", "not well-formed"),
    ("<rss><channel/></rss><rss/>", "junk after document element"),
    ("<rss><channel><item>", "no element found"), ("<rss>\u{0}</rss>", "not well-formed"),
  ])
  func `what is no RSS is named`(_ text: String, _ expected: String) {
    #expect(problem(text)?.contains(expected) == true, "\(problem(text) ?? "nothing")")
  }

  @Test func `an item beyond the limit is refused and the next one is read`() {
    let long = String(repeating: "<p>words</p>\n", count: 400)
    let deep = String(repeating: "<d>", count: 70) + String(repeating: "</d>", count: 70)
    let text = rss(
      "<item><guid>a</guid><description>\(long)</description></item><item><guid>b</guid>\(deep)</item>"
        + "<item><title>good</title></item>")
    let settings = FormatSettings(recordLimitBytes: 8_000)
    let records = Reading(text, .rss, settings: settings).records
    #expect(records.count == 3)
    #expect(records.prefix(2).allSatisfy { $0.contains("!the item has more than 8000 bytes") })
    #expect(records.last?.contains("\"title\":\"good\"") == true)
  }

  @Test func `a tag without an end is refused before it fills the memory`() {
    let text = rss("<item x=\"" + String(repeating: "y", count: 400_000))
    #expect(
      problem(text, limit: 1_000)?.contains("a tag or comment has more than 1000 bytes") == true)
  }

  private static let encoded: [(encoding: String, text: String, bytes: [UInt8])] = [
    ("GB2312", "港口新闻", [0xb8, 0xdb, 0xbf, 0xda, 0xd0, 0xc2, 0xce, 0xc5]),
    ("gbk", "鎭江", [0xe6, 0x81, 0xbd, 0xad]),
    ("GB18030", "㐀港", [0x81, 0x39, 0xee, 0x39, 0xb8, 0xdb]),
    ("Big5", "港口新聞", [0xb4, 0xe4, 0xa4, 0x66, 0xb7, 0x73, 0xbb, 0x44]),
    ("Shift_JIS", "港の①", [0x8d, 0x60, 0x82, 0xcc, 0x87, 0x40]),
    ("EUC-JP", "港のニュース", [0xb9, 0xc1, 0xa4, 0xce, 0xa5, 0xcb, 0xa5, 0xe5, 0xa1, 0xbc, 0xa5, 0xb9]),
    ("EUC-KR", "항구 뷁", [0xc7, 0xd7, 0xb1, 0xb8, 0x20, 0x94, 0xee]),
    ("windows-1251", "Порт", [0xcf, 0xee, 0xf0, 0xf2]),
    ("windows-1250", "přístav", [0x70, 0xf8, 0xed, 0x73, 0x74, 0x61, 0x76]),
    ("windows-1253", "λιμάνι", [0xeb, 0xe9, 0xec, 0xdc, 0xed, 0xe9]),
    ("windows-1256", "ميناء", [0xe3, 0xed, 0xe4, 0xc7, 0xc1]),
    ("KOI8-R", "Порт", [0xf0, 0xcf, 0xd2, 0xd4]),
    ("KOI8-U", "Їжак", [0xb7, 0xd6, 0xc1, 0xcb]),
    ("ISO-8859-2", "łódź", [0xb3, 0xf3, 0x64, 0xbc]),
    ("ISO-8859-15", "5 €", [0x35, 0x20, 0xa4]),
    ("windows-1252", "€é™", [0x80, 0xe9, 0x99]),
  ]

  @Test(arguments: encoded)
  func `a document is read in its encoding, however its bytes come`(
    _ encoding: String, _ text: String, _ bytes: [UInt8]
  ) {
    let head = "<?xml version='1.0' encoding=\"\(encoding)\"?>\n<rss><channel><item><title>"
    let filler = [UInt8](repeating: 0x20, count: 70_000)
    for spaces in [0, 1, 2, 3] {
      // Characters lie across the pieces that are parsed.
      let document =
        Array(head.utf8) + filler.dropLast(head.utf8.count + 4_464 + spaces)
        + [[UInt8]](repeating: bytes, count: 9).joined()
        + Array("</title></item></channel></rss>".utf8)
      let whole = Reading(document, .rss).records
      #expect(whole.first?.contains(String(repeating: text, count: 9)) == true, "\(whole)")
      // Byte by byte from before the text on; what is read at once is 64 KiB.
      #expect(Reading(document, .rss, ends: Array(65_000...document.count)).records == whole)
    }
  }

  @Test func `what is not in its encoding is named, with what stood before it`() {
    let head =
      "<?xml version='1.0' encoding='EUC-KR'?><rss><channel><item><guid>a</guid></item>\n<item><title>"
    let records = Reading(Array(head.utf8) + [0xff, 0xff, 0x3c], .rss).records
    #expect(
      records.count == 2
        && records[1].contains("2: !is not EUC-KR: no character begins at byte 95"), "\(records)")
    let cut = Reading(Array(head.utf8) + [0xb0], .rss).records
    #expect(cut.last?.contains("is not EUC-KR") == true, "\(cut)")
    // A mark of UTF-8 says more than the declaration behind it.
    let marked =
      "\u{feff}<?xml version='1.0' encoding='GBK'?><rss><channel><item><title>é</title></item></channel></rss>"
    #expect(Reading(marked, .rss).records.first?.contains("\"title\":\"é\"") == true)
  }

  @Test func `UTF-16 is read`() {
    let wide = Array("\u{feff}<rss><channel><item><title>é</title></item></channel></rss>".utf16)
      .flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    #expect(Reading(wide, .rss).records.first?.contains("\"title\":\"é\"") == true)
    #expect(
      problem("<?xml version=\"1.0\" encoding=\"x-none\"?><rss/>")?.contains("encoding") == true)
  }

  @Test(arguments: [
    ("<title>x</title><pubDate>soon</pubDate>", "pubDate: \"soon\" is not a time"),
    ("", "has no guid"),
    (
      "<guid>g</guid><title>\(String(repeating: "t", count: 5_000))</title>",
      "title: has 5000 characters"
    ),
  ])
  func `an item of which no post can be made says why`(_ content: String, _ expected: String) {
    #expect(problem(rss("<item>\(content)</item>"))?.contains(expected) == true)
  }

  @Test func `an item's id stays when it is read again or from elsewhere in the feed`() {
    let item = "<item><guid isPermaLink=\"false\">7</guid><title>a</title></item>"
    let other = "<item><title>b</title></item>"
    func ids(_ text: String) -> [String] {
      Reading(text, .rss).records.compactMap {
        $0.split(separator: "\"").dropFirst(3).first.map(String.init)
      }
    }
    let first = ids(rss(item + other))
    #expect(first.count == 2 && Set(first).count == 2)
    #expect(ids(rss(other + item)) == first.reversed())
    let elsewhere = rss(item + other).replacing("https://n.example/", with: "https://m.example/")
    #expect(Set(ids(elsewhere)).isDisjoint(with: first))
  }
}
