import Feed
import Foundation
import HTTP
import TestSupport
import Testing

@testable import FeedServer
@testable import System

/// URLs that hold for a while and for one file: who has none gets nothing, and no page hands out one that is over.
@Suite struct SignedMediaTests {
  private static let page = "/rp/?feed=f"
  private let media: DeliveredMedia

  init() throws { media = try DeliveredMedia() }

  private func problem(_ answer: TestAnswer) -> String? {
    answer.status == 403
      ? answer.value("type", as: String.self)?.replacing("urn:lookahead:problem:", with: "") : nil
  }

  @Test func `a signature is what openssl makes of the same text`() throws {
    let server = try media.server(keys: [DeliveredMedia.key])
    let url = try #require(try server.client().get(Self.page).file("url"))
    let text = "lookahead-media-1\n1700001100\n\ndeep/er (1).gif"
    try Data(text.utf8).write(to: URL(fileURLWithPath: media.folder.file("text")))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments =
      ["dgst", "-sha256", "-hmac", DeliveredMedia.key, "-r", media.folder.file("text")]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let digest = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(url == DeliveredMedia.url + "?expires=1700001100&signature=" + digest.prefix(32))
  }

  @Test func `without a signature, with another's or a changed one, or too late: 403, and which`()
    throws
  {
    let server = try media.server(keys: [DeliveredMedia.key])
    let client = try server.client()
    try media.index(as: DeliveredMedia.content(7))
    let url = try #require(try client.get(Self.page).file("url"))
    #expect(try client.get(url).status == 200)
    #expect(try problem(client.get(DeliveredMedia.url)) == "missing-signature")
    let half = DeliveredMedia.url + "?expires=1800000000"
    #expect(try problem(client.get(half)) == "missing-signature")
    // What does not exist is not told apart from what does.
    #expect(try problem(client.get("/media/nothing.gif")) == "missing-signature")
    let changes: [(String, String)] = [
      ("deep/er%20(1).gif", "gone.gif"), ("expires=1", "expires=2"), ("version=", "version=0"),
      ("signature=", "signature=0"), ("signature=", "signature=G"),
    ]
    for (part, other) in changes {
      var changed = url.replacing(part, with: other)
      // A digit more on one side is one less on the other.
      if part == "version=" { changed = changed.replacing(/.&expires/, with: "&expires") }
      let answer = try client.get(changed)
      #expect(changed != url && problem(answer) == "wrong-signature", "\(changed)")
      #expect(answer.fields["cache-control"] == "no-store")
    }
    let unversioned = url.replacing(/version=[0-9a-f]*&/, with: "")
    #expect(try problem(client.get(unversioned)) == "wrong-signature")
    #expect(try client.get(url.replacing("expires=", with: "expires=-")).status == 400)
    let other = try media.server(keys: [String(repeating: "o", count: 32)])
    #expect(try problem(other.client().get(url)) == "wrong-signature")
    media.clock.now = 1_700_001_099
    #expect(try client.get(url).fields["cache-control"] == "public, max-age=1, immutable")
    media.clock.now = 1_700_001_100
    #expect(try problem(client.get(url)) == "expired-url")
    // An open door says nothing of who has no key: options, and the fields of any page.
    let options = try client.request("OPTIONS", DeliveredMedia.url)
    #expect(options.status == 204)
  }

  @Test func `however a path is percent-encoded, its signature holds`() throws {
    let server = try media.server(keys: [DeliveredMedia.key])
    let url = try #require(try server.client().get(Self.page).file("url"))
    #expect(try server.client().get(url.replacing("(1)", with: "%281%29")).status == 200)
  }

  @Test func `keys are exchanged without a URL that fails`() throws {
    let (old, new) = (DeliveredMedia.key, String(repeating: "n", count: 40))
    let url = { (server: RunningServer) in
      try #require(try server.client().get(Self.page).file("url"))
    }
    let servers = try [[old], [old, new], [new, old], [new]].map { try media.server(keys: $0) }
    let urls = try servers.map(url)
    #expect(urls[0] == urls[1] && urls[2] == urls[3] && urls[1] != urls[2])
    for (index, server) in servers.enumerated() {
      for (other, url) in urls.enumerated() {
        // Those that are one step of the exchange apart run at the same time.
        let isKnown = index == 1 || index == 2 || urls[index] == url
        #expect(try server.client().get(url).status == (isKnown ? 200 : 403), "\(index) \(other)")
      }
    }
    // Where signing is off, what was signed is answered as what it names.
    let plain = try media.server()
    #expect(try plain.client().get(urls[0]).status == 200)
  }

  @Test func `pages stay the same within a step and have other URLs in the next, kept or not`()
    throws
  {
    let kept = try media.server(keys: [DeliveredMedia.key])
    let unkept = try media.server(keys: [DeliveredMedia.key]) {
      $0.encodedMemoryBytes = 0
      $0.itemFileBytes = 0
    }
    var last: TestAnswer?
    var steps = 0
    // Through steps, and once back.
    for now in [0, 1, 50, 99, 100, 100, 199, 200, 450, 120, 450] {
      media.clock.now = 1_700_000_000 + now
      let targets = [Self.page, "/v1/feeds/f/items", "/v1/items/p"]
      for target in targets {
        let answers = try [kept, kept, unkept].map { try $0.client().get(target) }
        let expiry = 1_700_000_000 + (now / 100 + 1) * 100 + 1_000
        for answer in answers {
          #expect(answer.body == answers[0].body)
          #expect(answer.fields["etag"] == answers[0].fields["etag"])
          let url = try #require(answer.file("url"))
          #expect(url.contains("?expires=\(expiry)&signature="), "\(now)")
          #expect(
            answer.file("expiresAt")
              == Timestamp(microseconds: Int64(expiry) * 1_000_000).rfc3339)
          let client = try kept.client()
          #expect(try client.get(url).status == 200)
          // Where there is no file, too; and others' URLs are as they were.
          #expect(try client.get(#require(answer.file(1, "url"))).status == 404)
          #expect(answer.file(2, "url") == "https://a.example/media/a.gif")
          #expect(answer.file(3, "url") == "/media/a.gif?x=1" && answer.file(3, "expiresAt") == nil)
          let item = (answer.json["items"] as? [[String: Any]])?.first ?? answer.json
          let author = item["author"] as? [String: Any]
          for picture in [item["thumbnail"], author?["avatar"], answer.file("poster")] {
            #expect(try client.get(#require(picture as? String)).status == 200)
          }
          // Other programs get no others.
          let feed = try client.get("/v1/feeds/f/feed.json", ["Host": "h.localhost"])
          let attachments =
            (feed.json["items"] as? [[String: Any]])?.first?["attachments"] as? [[String: Any]]
          #expect(attachments?.first?["url"] as? String == "http://h.localhost" + url)
        }
        if target == Self.page {
          if let last {
            let tag = try #require(last.fields["etag"])
            let isSame = try kept.client().get(target, ["If-None-Match": tag]).status == 304
            #expect(isSame == (last.body == answers[0].body))
            if !isSame { steps += 1 }
          }
          last = answers[0]
        }
      }
    }
    #expect(steps == 5)
  }

  @Test func `a signature of a step that a clock cannot reach is still a time`() throws {
    for now in [Int.min, -1, 0, 1 << 40, 1 << 53, Int.max] {
      let signer = MediaSigner(
        keys: [[1]], leastSeconds: 315_360_000, stepSeconds: 86_400, now: { now })
      let expires = signer.expiry
      #expect(Timestamp(microseconds: Int64(expires) * 1_000_000) <= .latest && expires > 0)
      let text = signer.query(of: ["a"], nil, expires: expires)
      let request = Request(.get, path: "/media/a", query: text, fields: [:])
      let query = try MediaQuery(try Parameters(request, known: MediaQuery.parameters))
      guard now < expires else {
        #expect(throws: Problem.self) { try signer.secondsLeft(of: query, ["a"]) }
        continue
      }
      #expect(try signer.secondsLeft(of: query, ["a"]) >= 315_360_000)
      #expect(throws: Problem.self) { try signer.secondsLeft(of: query, ["b"]) }
    }
  }
}
