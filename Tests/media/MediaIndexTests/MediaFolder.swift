import Catalog
import Feed
import Foundation
import MediaFiles
import MediaProbe
import SQLiteStore
import TestSupport

@testable import MediaIndex

/// A media root with copies of the project's fixtures, and a database beside it.
struct MediaFolder {
  let folder = TemporaryFolder()

  var path: String { folder.file("media") }
  var database: String { folder.file("feed.sqlite") }

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  func file(_ name: String) -> String { path + "/" + name }

  func write(_ bytes: Data, to name: String) throws {
    let parent = (file(name) as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    try bytes.write(to: URL(fileURLWithPath: file(name)))
  }

  /// Copies a fixture, with other bytes behind it where it is to be another content.
  func copy(_ fixture: String, to name: String, behind: String = "") throws {
    let url = URL(fileURLWithPath: SharedFeeds.fixtures + "/media/" + fixture)
    try write(try Data(contentsOf: url) + Data(behind.utf8), to: name)
  }

  /// A picture of 400 × 300 which anything that shows it as well has more bytes than.
  static func coarse() throws -> Data {
    let folder = TemporaryFolder()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "mandelbrot=s=400x300"]
      + ["-frames:v", "1", "-c:v", "libwebp", "-quality", "0", folder.file("coarse.webp")]
    try process.run()
    process.waitUntilExit()
    return try Data(contentsOf: URL(fileURLWithPath: folder.file("coarse.webp")))
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }

  func store() throws -> SQLiteStore { try SQLiteStore(path: database) }

  /// What is known in the store, by URL.
  func known(_ store: any MediaStore) throws -> [String: MediaTruth] {
    let media = try store.media(after: nil, limit: 10_000)
    return Dictionary(uniqueKeysWithValues: media.map { ($0.url, $0.truth) })
  }

  /// Runs an indexer on this folder, or what of it is named.
  func run(
    _ store: any MediaStore, _ names: [String]? = nil, baseURLs: [String] = [], jobs: Int = 2,
    isAnew: Bool = false, probe: MediaProbe = MediaProbe(),
    adapt: (inout MediaIndexer) throws -> Void = { _ in }
  ) throws -> (addition: MediaAddition, remarks: [String]) {
    let root = MediaStorage.folder(try MediaRoot(path: path))
    var indexer = MediaIndexer(
      root, addresses: try MediaAddresses(baseURLs: baseURLs), store: store,
      probe: probe, jobs: jobs)
    indexer.isAnew = isAnew
    try adapt(&indexer)
    var remarks: [String] = []
    let targets = try (names ?? [""]).map { try MediaTarget(path: file($0), in: root) }
    let addition = try indexer.run(
      targets, onRemark: { remarks.append($0.description) }, onProgress: { _ in })
    return (addition, remarks.map { $0.replacing(path + "/", with: "") }.sorted())
  }
}

extension MediaAddition {
  /// The counts that a test expects.
  init(
    probed: Int = 0, recognized: Int = 0, unchanged: Int = 0, passedOver: Int = 0, failed: Int = 0,
    forgotten: Int = 0
  ) {
    self.init()
    self.probed = probed
    self.recognized = recognized
    self.unchanged = unchanged
    self.passedOver = passedOver
    self.failed = failed
    self.forgotten = forgotten
  }
}
