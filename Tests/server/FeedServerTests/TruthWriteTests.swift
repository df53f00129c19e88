import Catalog
import Feed
import HTTP
import TestSupport
import Testing

/// What is found out about a file concerns readers, not who writes: it is in no record.
@Suite struct TruthWriteTests {
  @Test func `an item's tag from before its file was probed still is that of the item`() throws {
    let url = "https://a.example/a.mp4"
    let service = try WriteTests.service([
      .post(
        Post(id: "p", type: .video, media: [Media(kind: .video, url: url)]),
        placements: [Placement(feed: "f", rank: 1)])
    ])
    let client = try service.client()
    let before = try client.get("/v1/items/p")
    let tag = try #require(before.fields["etag"])
    let truth = MediaTruth(
      kind: .video, bytes: 100, mimeType: "video/mp4", durationMilliseconds: 2_000,
      start: MediaTiming(
        headBytes: 10, curve: [.init(milliseconds: 1_000, bytes: 60)],
        lead: [.init(kilobitsPerSecond: 100, bytes: 50)]),
      version: .content(sha256: Array(repeating: 7, count: 32)))
    try service.store.keep([KnownMedia(url: url, truth: truth)])

    // Readers see it, and their copies are no longer the latest.
    let after = try client.get("/v1/items/p")
    #expect(after.text.contains(#""headBytes""#) && !before.text.contains(#""headBytes""#))
    let asked = try client.request("GET", "/v1/items/p", ["If-None-Match": tag])
    #expect(asked.status == 200)
    // A writer's condition holds: the record is what it was.
    var fields = WriteTests.authorized
    fields["If-Match"] = tag
    let body = #"{"type":"video","title":"New","media":[{"kind":"video","url":"\#(url)"}]}"#
    #expect(try client.request("PUT", "/v1/items/p", fields, body: body).status == 204)
    #expect(try client.get("/v1/items/p").value("title") == "New")
    // And not once somebody else has written.
    #expect(try client.request("PUT", "/v1/items/p", fields, body: body).status == 412)
  }
}
