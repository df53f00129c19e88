import MediaIndex
import Testing

/// A file has the URLs by which posts may name it, and no other file's.
@Suite struct MediaAddressesTests {
  private static let cases: [(segments: [String], urls: [String])] = [
    (["a.png"], ["/media/a.png"]),
    (["album", "one.png"], ["/media/album/one.png"]),
    (["two words.png"], ["/media/two%20words.png", "/media/two words.png"]),
    (
      ["photo (1).png"],
      ["/media/photo%20(1).png", "/media/photo%20%281%29.png", "/media/photo (1).png"]
    ),
    (
      ["we ird név 100%.gif"],
      ["/media/we%20ird%20n%C3%A9v%20100%25.gif", "/media/we ird név 100%25.gif"]
    ),
    (["a%20b.png"], ["/media/a%2520b.png"]),
    (["what?.png"], ["/media/what%3F.png"]),
    (["a+b&c.png"], ["/media/a+b&c.png", "/media/a%2Bb%26c.png"]),
    (["ä#", "b.png"], ["/media/%C3%A4%23/b.png", "/media/ä%23/b.png"]),
    (["a\u{308}.png"], ["/media/a%CC%88.png", "/media/a\u{308}.png"]),
  ]

  @Test func `each common spelling is one of a file's URLs, and is read back as the file`() throws {
    let addresses = MediaAddresses.served
    for (segments, urls) in Self.cases {
      let found = addresses.urls(of: segments)
      #expect(found.map { Array($0.utf8) } == urls.map { Array($0.utf8) }, "\(segments)")
      for url in found {
        let read = addresses.segments(of: url)
        #expect(read?.map { Array($0.utf8) } == segments.map { Array($0.utf8) }, "\(url)")
      }
    }
    #expect(addresses.segments(of: "/elsewhere/a.png") == nil)
    #expect(addresses.segments(of: "/media/100%.png") == nil)
    #expect(addresses.segments(of: "/media/%61.png") == nil)
    #expect(addresses.segments(of: "/media/a.png?v=2#t=1") == ["a.png"])
  }

  @Test func `other servers' URLs stand beside the server's own`() throws {
    let addresses = try MediaAddresses(baseURLs: ["https://cdn.example/m/", "/media/"])
    #expect(
      addresses.urls(of: ["a", "b c.png"]) == [
        "/media/a/b%20c.png", "/media/a/b c.png", "https://cdn.example/m/a/b%20c.png",
        "https://cdn.example/m/a/b c.png",
      ])
    #expect(addresses.segments(of: "https://cdn.example/m/a/b%20c.png") == ["a", "b c.png"])
  }

  @Test(arguments: [
    "cdn.example/", "ftp://cdn.example/", "https:///media/", "//cdn.example/", "",
    "https://cdn.example", "https://cdn.example/m", "https://cdn.example/?f=/", "/m/#/",
  ])
  func `what is no folder's URL is refused`(url: String) {
    #expect(throws: MediaAddressError.self) { try MediaAddresses(baseURLs: [url]) }
  }
}
