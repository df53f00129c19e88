import Catalog
import Feed
import Foundation
import MediaProbe
import SQLiteStore
import Service
import System
import TestSupport
import Testing

/// A server knows the files of its media root, without being told.
@Suite struct MediaKeeperTests {
  private let folder = TemporaryFolder()

  private var root: String { folder.file("media") }

  init() throws {
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
  }

  private func copy(_ fixture: String, to name: String, prefix: Int = .max) throws {
    let url = URL(fileURLWithPath: SharedFeeds.fixtures + "/media/" + fixture)
    try Data(contentsOf: url).prefix(prefix).write(to: URL(fileURLWithPath: root + "/" + name))
  }

  private func record(_ name: String) -> SeedRecord {
    .post(
      Post(id: name, type: .video, media: [Media(kind: .video, url: "/media/" + name)]),
      placements: [Placement(feed: "f", rank: 1)])
  }

  private func configure(_ configuration: inout FeedServiceConfiguration) {
    configuration.application.mediaRoot = root
    configuration.mediaProbing.intervalSeconds = 1
    configuration.mediaProbing.settlingMilliseconds = 0
    configuration.mediaProbing.cpuPercent = 100
  }

  /// Waits for what has to come.
  private func waitUntil(_ condition: () throws -> Bool) throws {
    let isSo = try eventually(condition)
    try #require(isSo)
  }

  private func figure(_ service: RunningService, _ name: String) throws -> Int? {
    let line = try service.client().get("/metrics").text.split(separator: "\n")
      .first { $0.hasPrefix(name + " ") }
    return line.flatMap { Int($0.dropFirst(name.count + 1)) }
  }

  private func looks(_ service: RunningService, _ outcome: String) throws -> Int {
    try figure(service, "lookahead_media_looks_total{outcome=\"\(outcome)\"}") ?? 0
  }

  private func files(_ service: RunningService, _ state: String) throws -> Int {
    try figure(service, "lookahead_media_files{state=\"\(state)\"}") ?? 0
  }

  /// Waits for this many rounds through all files.
  private func rounds(_ service: RunningService, _ count: Int) throws {
    for _ in 0..<count {
      let name = "lookahead_media_round_timestamp_seconds"
      let last = try figure(service, name)
      try waitUntil { try figure(service, name) != last }
    }
  }

  private func item(_ service: RunningService, _ name: String) throws -> [String: Any] {
    let item = try service.client().get("/v1/items/\(name)").json
    return (item["media"] as? [[String: Any]])?.first ?? [:]
  }

  @Test func `what is there, comes, changes and goes is known as it is`() throws {
    try copy("loom/0.mp4", to: "a.mp4")
    let service = try RunningService([record("a.mp4"), record("b.mp4")], configure: configure)
    try waitUntil { try item(service, "a.mp4")["immutableUrl"] != nil }
    let known = try item(service, "a.mp4")
    let url = try #require(known["immutableUrl"] as? String)
    #expect(known["mimeType"] as? String == "video/mp4" && known["placeholder"] != nil)
    #expect(try service.client().get(url).status == 200)
    try waitUntil { try item(service, "b.mp4")["unavailable"] as? Bool == true }
    #expect(try item(service, "b.mp4")["bytes"] == nil)

    // The same content elsewhere is not decoded again.
    try copy("loom/0.mp4", to: "b.mp4")
    try waitUntil { try item(service, "b.mp4")["bytes"] != nil }
    #expect(try item(service, "b.mp4")["unavailable"] == nil)
    #expect(try looks(service, "probed") == 1 && looks(service, "recognized") == 1)

    try copy("kite-day/0.gif", to: "a.mp4")
    try waitUntil { try item(service, "a.mp4")["mimeType"] as? String == "image/gif" }
    #expect(try service.client().get(url).status == 404)

    try FileManager.default.removeItem(atPath: root + "/b.mp4")
    try waitUntil { try item(service, "b.mp4")["unavailable"] as? Bool == true }
    try rounds(service, 1)
    #expect(try item(service, "b.mp4")["unavailable"] as? Bool == true)
    #expect(try files(service, "known") == 1 && files(service, "broken") == 0)
    #expect(try looks(service, "probed") == 2)
  }

  @Test func `a broken file is read once for as long as it looks so, and others are known`() throws
  {
    try copy("loom/0.mp4", to: "a.mp4", prefix: 9_000)
    try copy("loom/0.mp4", to: "b.mp4")
    try Data("words".utf8).write(to: URL(fileURLWithPath: root + "/README"))
    let service = try RunningService(
      [record("a.mp4"), record("b.mp4")], configure: configure)
    try waitUntil { try files(service, "broken") == 1 }
    try waitUntil { try item(service, "a.mp4")["unavailable"] as? Bool == true }
    try rounds(service, 2)
    #expect(try looks(service, "failed") == 1 && looks(service, "probed") == 1)
    #expect(try files(service, "known") == 1 && files(service, "other") == 1)
    // Mended, it is read again.
    try copy("loom/0.mp4", to: "a.mp4")
    try waitUntil { try files(service, "known") == 2 }
    #expect(try looks(service, "recognized") == 1 && files(service, "broken") == 0)
  }

  @Test func `what changed just now waits`() throws {
    try copy("loom/0.mp4", to: "a.mp4")
    let service = try RunningService([record("a.mp4")]) {
      configure(&$0)
      $0.mediaProbing.settlingMilliseconds = 3_600_000
    }
    try waitUntil { try files(service, "waiting") == 1 }
    #expect(try item(service, "a.mp4")["bytes"] == nil && looks(service, "probed") == 0)
  }

  @Test func `without ffmpeg size, type and structure are known`() throws {
    try copy("loom/0.mp4", to: "a.mp4")
    let service = try RunningService([record("a.mp4")]) {
      configure(&$0)
      $0.mediaProbing.tools = MediaTools()
    }
    try waitUntil { try item(service, "a.mp4")["bytes"] != nil }
    let known = try item(service, "a.mp4")
    #expect(known["mimeType"] as? String == "video/mp4" && known["start"] != nil)
    #expect(known["placeholder"] == nil && known["width"] != nil)
  }

  @Test func `one of two servers looks, and another goes on when nobody does`() throws {
    try copy("loom/0.mp4", to: "a.mp4")
    let first = try RunningService([record("a.mp4")], configure: configure)
    try waitUntil { try files(first, "known") == 1 }
    let second = try RunningService(beside: first, configure: configure)
    try copy("kite-day/0.gif", to: "b.gif")
    try waitUntil { try files(first, "known") == 2 }
    try rounds(first, 2)
    #expect(try figure(second, "lookahead_media_round_timestamp_seconds") == 0)

    let other = try RunningService([record("a.mp4")]) {
      configure(&$0)
      $0.mediaProbing.cpuPercent = 0
    }
    let path = other.databasePath + "-media"
    var lock: Descriptor? = try Descriptor(path, [.readingAndWriting, .creating])
    #expect(lock?.tryLock() == true)
    let waiting = try RunningService(beside: other, configure: configure)
    try rounds(first, 2)
    #expect(try files(waiting, "known") == 0)
    lock = nil
    #expect(lock == nil)
    try waitUntil { try files(waiting, "known") == 2 }
  }

  @Test func `an empty folder, as of a mount that is not there, is no word on files`() throws {
    try copy("loom/0.mp4", to: "a.mp4")
    let service = try RunningService([record("a.mp4")], configure: configure)
    try waitUntil { try item(service, "a.mp4")["bytes"] != nil }
    rename(root, root + "-away")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    try waitUntil { try files(service, "known") == 0 }
    #expect(try item(service, "a.mp4")["bytes"] != nil)
  }

  @Test func `a service ends while a decoder is at work, and waits for nothing`() throws {
    try copy("loom/0.mp4", to: "a.mp4")
    let script = ": >\"\(folder.file("begun"))\"\nexec /bin/sleep 600\n"
    let ffmpeg = try folder.writeProgram(script, to: "ffmpeg")
    var service: RunningService? = try RunningService([record("a.mp4")]) {
      configure(&$0)
      $0.mediaProbing.tools = MediaTools(ffmpeg: ffmpeg)
      // Longer than this test may take.
      $0.mediaProbing.decoding.timeMilliseconds = 600_000
    }
    try waitUntil { FileManager.default.fileExists(atPath: folder.file("begun")) }
    #expect(try service?.client().get("/healthz").status == 200)
    service = nil
    #expect(service == nil)
  }

  @Test func `0 percent looks at nothing`() throws {
    try copy("loom/0.mp4", to: "a.mp4")
    let service = try RunningService([record("a.mp4")]) {
      configure(&$0)
      $0.mediaProbing.cpuPercent = 0
    }
    #expect(try figure(service, "lookahead_media_round_timestamp_seconds") == nil)
    #expect(try item(service, "a.mp4")["bytes"] == nil)
  }
}
