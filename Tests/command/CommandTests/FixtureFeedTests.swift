import Foundation
import TestSupport
import Testing

/// The first command's feed: what its pages name loads, to the byte.
@Suite struct FixtureFeedTests {
  private struct Page: Decodable {
    struct File: Decodable {
      let url: String
      let mimeType: String
      let bytes: Int
      let width: Int
    }

    struct Media: Decodable {
      let id: String
      let kind: String
      let url: String
      let mimeType: String
      let bytes: Int
      let width: Int
      let variants: [File]?
    }

    struct Item: Decodable {
      let id: String
      let media: [Media]?
    }

    struct Part: Decodable {
      let item: String
      let media: String?
      let variant: Int?
      let range: [Int]?
      let bytes: Int
      let why: String
    }

    struct Prefetch: Decodable {
      let plan: [Part]
      let planBytes: Int
    }

    let items: [Item]
    let prefetch: Prefetch
  }

  private static let root = ["--media-root", SharedFeeds.fixtures + "/media"]

  /// With a database of the fixtures, whose files have been looked into once for all tests.
  private static let seeded = Result {
    let program = Program()
    let seeding = try program.run(["seed", "--probe", "--fixtures", SharedFeeds.fixtures] + root)
    try #require(seeding.status == 0, "\(seeding.errors)")
    return program
  }

  private let client: TestClient
  private let server: ServingProgram

  init() throws {
    server = try ServingProgram(try Self.seeded.get(), Self.root)
    client = try TestClient(port: server.port)
  }

  private func page(_ query: String) throws -> Page {
    let answer = try client.get("/rp/?feed=featured&" + query)
    try #require(answer.status == 200, "\(answer.text)")
    return try JSONDecoder().decode(Page.self, from: Data(answer.body))
  }

  @Test func `every part of every plan loads, and is whole`() throws {
    var chosen: Set<String> = []
    for (network, width) in [
      ("wifi", ""), ("edge", ""), ("wifi", "320"), ("wifi", "16384"), ("3g", "640"),
    ] {
      for offset in stride(from: 0, to: 40, by: TestRandom.often(10, nightly: 1)) {
        let page = try page(
          "offset=\(offset)&limit=10&network=\(network)" + (width.isEmpty ? "" : "&width=\(width)"))
        #expect(page.prefetch.planBytes == page.prefetch.plan.reduce(0) { $0 + $1.bytes })
        for part in page.prefetch.plan {
          guard let id = part.media else { continue }
          let item = try #require(page.items.first { $0.id == part.item })
          let media = try #require(item.media?.first { $0.id == id })
          let variant = try part.variant.map { try #require(media.variants)[$0] }
          #expect(variant == nil || !width.isEmpty)
          let (url, type, bytes) =
            variant.map { ($0.url, $0.mimeType, $0.bytes) } ?? (
              media.url, media.mimeType, media.bytes
            )
          if variant != nil { chosen.insert(url) }
          let range = try #require(part.range)
          #expect(part.why == "start" || range == [0, bytes - 1], "\(url)")
          let answer = try client.get(url, ["Range": "bytes=\(range[0])-\(range[1])"])
          #expect(answer.status == 206 && answer.body.count == part.bytes, "\(url)")
          #expect(answer.fields["content-range"] == "bytes \(range[0])-\(range[1])/\(bytes)")
          #expect(answer.fields["content-type"] == type)
        }
      }
    }
    #expect(chosen.count > 15 && chosen.contains { $0.hasSuffix(".mp4") })
  }

  @Test func `every variant is there, narrower or lighter than its file, and loads`() throws {
    var (files, variants) = (0, 0)
    for offset in [0, 20] {
      for media in try page("offset=\(offset)&limit=20").items.flatMap({ $0.media ?? [] }) {
        files += 1
        var least = 0
        for variant in media.variants ?? [] {
          variants += 1
          #expect((least..<media.bytes).contains(variant.bytes) && variant.width <= media.width)
          #expect((variant.mimeType == "video/mp4") == (media.kind == "video"))
          least = variant.bytes
          let answer = try client.get(variant.url)
          #expect(answer.status == 200 && answer.body.count == variant.bytes, "\(variant.url)")
          #expect(answer.fields["content-type"] == variant.mimeType)
        }
      }
    }
    #expect(files > 40 && variants > 30)
  }
}
