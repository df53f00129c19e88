import Testing

@testable import MediaProbe

/// URLs are read in one way alone, and hosts are those that are allowed.
struct MediaURLTests {
  @Test(arguments: [
    ("http://example.org", "http://example.org:80/"),
    ("HTTPS://Example.ORG/A?b=c#d", "https://example.org:443/A?b=c"),
    ("http://example.org:8080?x", "http://example.org:8080/?x"),
    ("http://[::1]:80/a", "http://[::1]:80/a"), ("http://127.0.0.1/", "http://127.0.0.1:80/"),
    ("http://a_b-c.example/%20/../x", "http://a_b-c.example:80/%20/../x"),
    ("https://example.org:/", "https://example.org:443/"),
  ])
  func `a URL is written anew from its parts`(text: String, expected: String) throws {
    #expect(try MediaURL(text).description == expected)
  }

  @Test(arguments: [
    "", "example.org/a", "/a", "file:///etc/passwd", "ftp://example.org/", "http:///a", "http://",
    "http://user@example.org/", "http://example.org@127.0.0.1/", "http://a b/", "http://a/ b",
    "http://a\\@b/", "http://a/\\b", "http://a:0/", "http://a:65536/", "http://a:+80/",
    "http://a:80:80/", "http://[::1/", "http://[::1]x/", "http://[127.0.0.1]/",
    "http://[fe80::1%25lo]/",
    "http://127.1/", "http://0x7f.0.0.1/", "http://2130706433/", "http://0177.0.0.1/",
    "http://1.2.3.4.5/", "http://a..b/", "http://a./", "http://.a/", "http://é.example/",
    "http://a%2eb/", "http://a/\n", "http://a/\u{7f}", "gopher://a/", "http:/a/", "http://a/é",
    "http://\(String(repeating: "a", count: 64)).org/",
  ])
  func `what others might read otherwise is refused`(text: String) {
    #expect(throws: RemoteError.self) { try MediaURL(text) }
  }

  @Test(arguments: [
    ("/b", "http://a.example:80/b"), ("b", "http://a.example:80/x/b"),
    ("https://b.example/", "https://b.example:443/"), ("//b.example/", "http://b.example:80/"),
    ("?q", "http://a.example:80/x/y?q"),
  ])
  func `a redirection leads where RFC 3986 says`(place: String, expected: String) throws {
    #expect(try MediaURL("http://a.example/x/y").resolving(place).description == expected)
  }

  @Test(arguments: ["file:///etc/passwd", "http://u@b/", "http://127.1/", "http://b/\\"])
  func `a redirection is refused as a URL is`(place: String) throws {
    let url = try MediaURL("http://a.example/x/y")
    #expect(throws: RemoteError.self) { try url.resolving(place) }
  }

  @Test(arguments: [
    ("example.org", "example.org", true), ("Example.org", "example.org", true),
    ("example.org", "a.example.org", false), ("*.example.org", "a.example.org", true),
    ("*.example.org", "a.b.example.org", true), ("*.example.org", "example.org", false),
    ("*.example.org", "badexample.org", false), ("*", "anything", true),
    ("127.0.0.1", "127.0.0.1", true), ("::1", "::1", true),
  ])
  func `a pattern allows its hosts`(text: String, host: String, isAllowed: Bool) throws {
    #expect(try #require(HostPattern(text)).allows(host) == isAllowed)
  }

  @Test(arguments: ["", "*.", "**", "a*", "*.*.a", "http://a", "a/b", "a:80", "a b", "127.1"])
  func `what is no host is no pattern`(text: String) {
    #expect(HostPattern(text) == nil)
  }
}
