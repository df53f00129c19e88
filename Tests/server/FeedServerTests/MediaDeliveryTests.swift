import Feed
import Foundation
import HTTP
import TestSupport
import Testing

@testable import FeedServer
@testable import System

/// Files by their content and with signatures: the same bytes, ranges and validators as without.
@Suite struct MediaDeliveryTests {
  private static let page = "/rp/?feed=f"
  private let media: DeliveredMedia

  init() throws { media = try DeliveredMedia() }

  /// Fields of requests, and the status that each has wherever the file is.
  private static let requests: [(fields: [String: String], status: Int)] = [
    ([:], 200), (["Range": "bytes=0-0"], 206), (["Range": "bytes=100-"], 206),
    (["Range": "bytes=-7"], 206), (["Range": "bytes=0-1,5-9"], 206),
    (["Range": "bytes=50006-"], 416), (["Range": "bytes=5-4"], 200),
    (["If-None-Match": "*"], 304), (["If-Match": "\"x\""], 412),
    (["If-Modified-Since": "Sun, 13 Sep 2020 12:26:40 GMT"], 304),
    (["If-Range": "\"x\"", "Range": "bytes=0-0"], 200),
    (["If-Range": "Sun, 13 Sep 2020 12:26:40 GMT", "Range": "bytes=0-0"], 206),
  ]

  @Test func `plain, by content and signed, a file has the same bytes, ranges and validators`()
    throws
  {
    let content = DeliveredMedia.content(7)
    try media.index(as: content)
    let plain = try media.server()
    let signing = try media.server(keys: [DeliveredMedia.key])
    let item = try plain.client().get(Self.page)
    #expect(item.file("url") == DeliveredMedia.url && item.file("expiresAt") == nil)
    let immutable = try #require(item.file("immutableUrl"))
    #expect(immutable == DeliveredMedia.url + "?version=" + DeliveredMedia.version(of: content))
    let signed = try #require(try signing.client().get(Self.page).file("url"))
    let places = [(plain, DeliveredMedia.url), (plain, immutable), (signing, signed)]
    var tags: Set<String?> = []
    for (fields, status) in Self.requests {
      for method in ["GET", "HEAD"] {
        let answers = try places.map { server, url in
          try server.client().request(method, url, fields)
        }
        let first = answers[0]
        #expect(method == "HEAD" || first.status == status, "\(fields)")
        tags.insert(answers[0].fields["etag"])
        for answer in answers[1...] {
          #expect(answer.status == first.status, "\(fields) \(answer.text.prefix(300))")
          #expect(answer.fields["etag"] == first.fields["etag"])
          // Parts are divided by chance, and problems are told apart by their requests' ids.
          let isParts = first.fields["content-type"]?.hasPrefix("multipart/") == true
          guard !isParts, first.status < 400 else { continue }
          #expect(answer.body == first.body)
          for name in [
            "last-modified", "content-type", "content-length", "content-range", "accept-ranges",
          ] {
            #expect(answer.fields[name] == first.fields[name], "\(fields) \(name)")
          }
        }
      }
    }
    let tag = try #require(tags.compactMap(\.self).first { !$0.isEmpty })
    for (server, url) in places {
      let client = try server.client()
      #expect(try client.get(url).body == content)
      #expect(try client.get(url, ["If-None-Match": tag]).status == 304)
      #expect(try client.get(url, ["If-Range": tag, "Range": "bytes=1-2"]).body == [73, 70])
    }
  }

  @Test func `what is kept for ever says so, and nothing else does`() throws {
    try media.index(as: DeliveredMedia.content(7))
    let server = try media.server()
    let client = try server.client()
    let immutable = try #require(try client.get(Self.page).file("immutableUrl"))
    #expect(try client.get(DeliveredMedia.url).fields["cache-control"] == "max-age=2592000")
    for fields in [[:], ["Range": "bytes=0-0"], ["If-None-Match": "*"]] {
      let answer = try client.get(immutable, fields)
      #expect(answer.fields["cache-control"] == "public, max-age=31536000, immutable")
    }
    #expect(try client.get(immutable, ["If-Match": "\"x\""]).fields["cache-control"] == "no-store")
  }

  @Test func `never other bytes under a content's name, however the file changed`() throws {
    let content = DeliveredMedia.content(7)
    let (server, version) = (try media.server(), DeliveredMedia.version(of: content))
    let client = try server.client()
    let url = DeliveredMedia.url + "?version=" + version
    // Nobody has indexed it: it is read.
    #expect(try client.get(url).body == content)
    #expect(try client.get(url).body == content)
    // As large, and with the same time of change as far as that can be set.
    let other = DeliveredMedia.content(9)
    try media.write(other)
    let gone = try client.get(url)
    #expect(gone.status == 404 && gone.fields["cache-control"] == "no-store")
    #expect(gone.value("type") == "urn:lookahead:problem:unknown-media-version")
    let otherURL = DeliveredMedia.url + "?version=" + DeliveredMedia.version(of: other)
    #expect(try client.get(otherURL).body == other)
    #expect(try client.get(DeliveredMedia.url).body == other)
    // Another file in its place, and back.
    rename(media.path, media.path + ".old")
    try media.write(content)
    #expect(try client.get(url).body == content && client.get(otherURL).status == 404)
    rename(media.path + ".old", media.path)
    #expect(try client.get(otherURL).body == other && client.get(url).status == 404)
    try FileManager.default.removeItem(atPath: media.path)
    let missing = try client.get(url)
    #expect(missing.value("type") == "urn:lookahead:problem:unknown-media")
  }

  @Test func `a file that is written through a mapping is no longer what it was`() throws {
    let content = DeliveredMedia.content(7)
    let server = try media.server()
    let client = try server.client()
    let url = DeliveredMedia.url + "?version=" + DeliveredMedia.version(of: content)
    // Mapped and dirty before: no later write has a new time of change.
    let descriptor = open(media.path, O_RDWR)
    defer { close(descriptor) }
    let memory = try #require(
      mmap(nil, content.count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0))
    defer { munmap(memory, content.count) }
    memory.storeBytes(of: content[100], toByteOffset: 100, as: UInt8.self)
    let first = try client.get(url)
    #expect(first.body == content)
    #expect(first.fields["cache-control"] == "public, max-age=31536000, immutable")
    memory.storeBytes(of: ~content[100], toByteOffset: 100, as: UInt8.self)
    #expect(try client.get(url).status == 404)
    #expect(try client.get(url, ["Range": "bytes=0-9"]).status == 404)
    memory.storeBytes(of: content[100], toByteOffset: 100, as: UInt8.self)
    #expect(try client.get(url).body == content)
  }

  @Test(arguments: [(-1, "max-age=2592000"), (0, "public, max-age=31536000, immutable")])
  func `a file too large to be compared is promised for less`(more: Int, caching: String) throws {
    let content = DeliveredMedia.content(7)
    try media.index(as: content)
    let server = try media.server { $0.mediaComparedBytes = content.count + more }
    let answer = try server.client().get(
      DeliveredMedia.url + "?version=" + DeliveredMedia.version(of: content))
    #expect(answer.body == content && answer.fields["cache-control"] == caching)
  }

  @Test func `what the index says of a large file is believed as long as it looks so`() throws {
    let content = DeliveredMedia.content(7)
    // Told by the index alone: the bytes are others.
    let told = DeliveredMedia.version(of: [1])
    try media.index(as: [1])
    let url = DeliveredMedia.url + "?version="
    let first = try media.server { $0.mediaComparedBytes = 0 }
    #expect(try first.client().get(url + told).body == content)
    // Touched since, with all that can be set set back: it is read.
    usleep(20_000)
    try media.setModified()
    let server = try media.server { $0.mediaComparedBytes = 0 }
    let client = try server.client()
    #expect(try client.get(url + told).status == 404)
    #expect(try client.get(url + DeliveredMedia.version(of: content)).body == content)
  }

  @Test(arguments: [
    "", "x", "ABCDEF", String(repeating: "g", count: 32), String(repeating: "A", count: 32),
  ])
  func `a version that is none is refused by name`(version: String) throws {
    let server = try media.server()
    let answer = try server.client().get(DeliveredMedia.url + "?version=" + version)
    #expect(answer.status == 400 && answer.value("parameter") == "version")
  }

  @Test func `no version opens what is not served`() throws {
    let server = try media.server()
    let client = try server.client()
    let version = DeliveredMedia.version(of: Array("secret".utf8))
    try media.folder.write("secret", to: "media/.hidden.gif")
    try media.folder.write("secret", to: "secret.gif")
    for path in ["/media/.hidden.gif", "/media/../secret.gif", "/media/deep", "/media/"] {
      let answer = try client.get(path + "?version=" + version)
      #expect(answer.status == 404 && !answer.text.contains("secret\n"), "\(path)")
    }
  }
}
