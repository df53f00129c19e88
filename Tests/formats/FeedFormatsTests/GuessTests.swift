import FeedFormats
import Testing

struct GuessTests {
  private func guess(_ text: String, said: FeedFormat? = nil, map: [String] = []) -> String {
    do {
      let columns = try map.map { try ColumnMapping($0) }
      return try FeedFormat.guess(Array(text.utf8), said: said, columns: columns).rawValue
    } catch {
      return "!\(error)"
    }
  }

  @Test(arguments: [
    ("", "records"), (" \n", "records"), (#"{"id":"a","type":"text"}"#, "records"),
    ("[\n {\"id\":\"a\",\n\"type\":\"text\"}]", "records"),
    ("{\"id\":\"cut\n{\"id\":\"a\"}\n", "records"),
    ("{\"id\":\"a\"}\n{\"id\":\"b\"}", "records"), ("nonsense\n", "records"),
    ("a, b\n{\"id\":\"a\"}", "records"),
    (#"{"items":[],"version":"https://jsonfeed.org/version/1"}"#, "json-feed"),
    (#"{"version":"http://jsonfeed.org/version/1","items":[]}"#, "json-feed"),
    (#"{"version":"https:\/\/jsonfeed.org\/version\/1.1","title":"x"}"#, "json-feed"),
    // The version comes behind all that is looked at.
    (#"{"title":"x","home_page_url":"https://x.example/","items":[{"id":"1"}"#, "json-feed"),
    (#"{"items":[{"id":"1","content_html":"<p>x</p>","tags":["a"]}"#, "json-feed"),
    (#"{"items":[{"id":"1","name":"x"}]}"#, "records"),
    (#"{"data":{"children":[]},"kind":"Listing"}"#, "reddit"),
    (#"[{"kind":"Listing","data":{}}]"#, "reddit"),
    (#"{"subreddit":"x","permalink":"/r/x","id":"1"}"#, "reddit"),
    (#"[{"id":"1","uri":"u","account":{"id":"2"},"content":""}]"#, "mastodon"),
    (
      "<?xml version=\"1.0\"?><!-- a > b --><!DOCTYPE rss [<!-- x -->]><rss version=\"2.0\">", "rss"
    ),
    ("\u{feff}<a:feed xmlns:a=\"http://www.w3.org/2005/Atom\">", "atom"),
  ])
  func `what an input is written in is guessed where that is clear`(
    _ text: String, _ expected: String
  ) {
    #expect(guess(text) == expected, "\(text)")
  }

  @Test(arguments: [
    ("{\n  \"posts\": [\n {\"id\":\"a\"}]}", "one JSON object over several lines"),
    ("{\n  \"posts\": [\n {\"id\":\"a\"}]}", "jq -c '.\"posts\"[]'"),
    (
      "id,title\n1,a\n",
      "this is a CSV: --map column=field is required; the columns are id, title"
    ),
    ("<html><body>", "an HTML page"), ("<rdf:RDF xmlns:rdf=\"x\">", "RSS 1.0"),
    ("<opml>", "root is <opml>"), ("<!-- never", "without an element in"), ("PK\u{3}\u{4}", "ZIP"),
    ("SQLite format 3\u{0}", "a SQLite database"), ("%PDF-1.7", "a PDF"),
    ("a\u{0}b", "zero bytes"),
  ])
  func `what cannot be read is named as what it is`(_ text: String, _ expected: String) {
    #expect(guess(text).contains(expected), "\(guess(text))")
  }

  @Test(arguments: [
    (FeedFormat.rss, "<feed>", "this is Atom, not RSS"), (.rss, "{}", "this is JSON, not RSS"),
    (.mastodon, "<rss>", "this is RSS, not a Mastodon timeline"),
    (.jsonFeed, "<rss>", "this is RSS, not a JSON Feed"),
    (.csv, "a,b\n1,2\n", "--map"), (.atom, "words", "this is not Atom"),
  ])
  func `what is not what was said is refused`(
    _ said: FeedFormat, _ text: String, _ expected: String
  ) {
    #expect(guess(text, said: said).contains(expected), "\(guess(text, said: said))")
  }

  @Test func `records that are said to be such are not looked at`() {
    for text in ["<rss>", "a,b\n", "PK\u{3}\u{4}", "{\n\"id\":1}", #"{"kind":"Listing"}"#] {
      #expect(guess(text, said: .records) == "records")
    }
  }

  @Test func `gzip within what was decompressed is named`() {
    #expect(throws: FormatProblem.self) { try FeedFormat.guess([0x1f, 0x8b, 8, 0]) }
    #expect(throws: FormatProblem.self) { try FeedFormat.guess([0xff, 0xfe, 0x3c, 0]) }
    #expect(throws: Never.self) { try FeedFormat.guess([0xff, 0xfe, 0x3c, 0], said: .rss) }
  }

  @Test func `a table is one where its columns are named, and they have to be there`() {
    #expect(guess("title\nx\n", map: ["title=title"]) == "csv")
    #expect(guess("[{\"a\":1}]", map: ["a=title"]) == "json")
    #expect(guess(#"{"feed":{"name":"f"}}"#, map: ["a=title"]) == "records")
    #expect(
      guess(#"{"version":"https://jsonfeed.org/version/1","#, map: ["a=title"]) == "json-feed")
    #expect(
      guess("title;n\nx;1\n", map: ["name=title"]).contains(
        "no column \"name\"; the columns are title, n"))
    #expect(guess(#"{"id":"a","type":"text"}"#, map: ["title=title"]) == "records")
  }
}
