import Feed
import Foundation
import MediaProbe
import ModelStore
import TestSupport
import Testing

@testable import FeedServer

/// `/v1/renditions`: smaller versions of media files, as writers ask for them.
@Suite struct RenditionRouteTests {
  private static let picture = "/media/lighthouse-steps/5.jpg"
  private static let auth = ["Authorization": "Bearer m-token"]

  private let folder = TemporaryFolder()
  private let store = ModelStore()

  private func server(
    _ configure: (inout ApplicationConfiguration) -> Void = { _ in }
  ) throws -> RunningServer {
    var rights = WriteToken.Rights()
    rights.media = true
    var others = WriteToken.Rights()
    others.counters = true
    let tokens = [
      WriteToken(name: "camera", secret: "m-token", rights: rights),
      WriteToken(name: "app", secret: "c-token", rights: others),
    ]
    let root = folder.file("media")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    for name in ["lighthouse-steps/5.jpg", "crab-rescue/0.mp4", "storm-wall/0.mp4", "loom/0.mp4"] {
      let file = root + "/" + name
      try FileManager.default.createDirectory(
        atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: Repository.url("Fixtures/media/" + name).path, toPath: file)
    }
    return try RunningServer(on: store) {
      $0.mediaRoot = root
      $0.writeTokens = tokens
      configure(&$0)
    }
  }

  private static func ask(_ client: TestClient, _ path: String) throws -> TestAnswer {
    let encoded = path.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? path
    return try client.request("POST", "/v1/renditions?path=\(encoded)", auth)
  }

  private static func files(_ client: TestClient) throws -> [[String: Any]] {
    let answer = try client.get("/v1/renditions", auth)
    #expect(answer.fields["cache-control"] == "no-store")
    return try #require(answer.value("files"))
  }

  @Test func `what is asked for is made, once, and shown with the item`() throws {
    let server = try server()
    defer { withExtendedLifetime(server) {} }
    try store.load([
      .post(
        Post(id: "steps", type: .image, media: [Media(kind: .image, url: Self.picture)]),
        placements: [Placement(feed: "f")])
    ])
    let client = try server.client()
    #expect(try client.get("/v1/renditions", Self.auth).text == #"{"canMake":true,"files":[]}"#)
    let asked = try Self.ask(client, Self.picture)
    #expect(asked.status == 202 && asked.value("path") == Self.picture, "\(asked.text)")
    func state() throws -> String? { try Self.files(client).first?["state"] as? String }
    #expect(try eventually { try state() == "made" })
    let made = try #require(try Self.files(client).first)
    #expect(made["made"] as? Int == 1 && made["kept"] as? Int == 0 && made["problem"] == nil)
    let item = try client.get("/v1/items/steps")
    let media: [[String: Any]] = try #require(item.value("media"))
    #expect((media.first?["variants"] as? [Any])?.count == 1, "\(item.text)")
    // Again: it is there.
    #expect(try Self.ask(client, Self.picture).status == 202)
    #expect(try eventually { try state() == "made" && Self.files(client)[0]["kept"] as? Int == 1 })
    #expect(try Self.files(client).count == 1)
  }

  @Test func `more than may wait are refused, and a server that stops ends its work`() throws {
    let server = try server { $0.waitingRenditions = 1 }
    let client = try server.client()
    #expect(try Self.ask(client, "/media/crab-rescue/0.mp4").status == 202)
    func states() throws -> [String] {
      try Self.files(client).compactMap { $0["state"] as? String }
    }
    #expect(try eventually { try states() == ["making"] })
    #expect(try Self.ask(client, "/media/storm-wall/0.mp4").status == 202)
    // Asked for twice, each waits once.
    #expect(try Self.ask(client, "/media/storm-wall/0.mp4").status == 202)
    #expect(try Self.ask(client, "/media/crab-rescue/0.mp4").value("state") == "making")
    let refused = try Self.ask(client, "/media/loom/0.mp4")
    #expect(refused.status == 503 && refused.fields["retry-after"] != nil, "\(refused.text)")
    #expect(try states() == ["waiting", "making"])
    let root = folder.file("media")
    withExtendedLifetime(server) {}
    #expect(!FileManager.default.fileExists(atPath: root + "/loom/_renditions"))
  }

  @Test func `what cannot be made is told`() throws {
    let server = try server()
    let client = try server.client()
    try Data("GIF89a".utf8).write(to: URL(fileURLWithPath: folder.file("media/broken.gif")))
    #expect(try Self.ask(client, "/media/broken.gif").status == 202)
    #expect(try eventually { try Self.files(client).first?["state"] as? String == "failed" })
    #expect(try Self.files(client)[0]["problem"] as? String != nil)
    for (path, status) in [
      ("/media/none.jpg", 404), ("/media/loom", 404), ("/media/", 404), ("/other/a.jpg", 400),
      ("", 400),
      ("/media/../a.jpg", 404),
    ] {
      let answer = try Self.ask(client, path)
      #expect(answer.status == status, "\(path) \(answer.text)")
    }
    #expect(try client.request("POST", "/v1/renditions", Self.auth).status == 400)
    for (token, status) in [("c-token", 403), ("wrong", 401)] {
      let fields = ["Authorization": "Bearer \(token)"]
      #expect(try client.get("/v1/renditions", fields).status == status)
      #expect(
        try client.request("POST", "/v1/renditions?path=/media/loom/0.mp4", fields).status == status
      )
    }
  }

  @Test func `without ffmpeg, or without a folder, it says so`() throws {
    let server = try server { $0.mediaProbe = MediaProbe(tools: MediaTools()) }
    defer { withExtendedLifetime(server) {} }
    let client = try server.client()
    let told = try client.get("/v1/renditions", Self.auth)
    #expect(told.value("canMake") == false)
    #expect(told.value("problem", as: String.self)?.contains("ffmpeg") == true)
    let refused = try Self.ask(client, Self.picture)
    #expect(refused.status == 501 && refused.text.contains("not installed"), "\(refused.text)")
    let bare = try RunningServer(on: store) {
      $0.writeTokens = [WriteToken(name: "editor", secret: "m-token")]
    }
    defer { withExtendedLifetime(bare) {} }
    #expect(try bare.client().get("/v1/renditions", Self.auth).status == 403)
    #expect(try Self.ask(try bare.client(), Self.picture).status == 403)
  }
}
