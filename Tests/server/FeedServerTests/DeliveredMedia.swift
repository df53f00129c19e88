import Catalog
import Feed
import Foundation
import ModelStore
import SHA2
import Synchronization
import TestSupport

@testable import FeedServer
@testable import System

/// A media folder with a file that posts show and of which something is known, and servers of it.
struct DeliveredMedia {
  static let url = "/media/deep/er%20(1).gif"
  static let key = String(repeating: "k", count: 32)

  let folder = TemporaryFolder()
  let store = ModelStore()
  /// The clock of signatures.
  let clock = Clock()

  final class Clock: Sendable {
    private let seconds = Mutex(1_700_000_000)

    var now: Int {
      get { seconds.withLock { $0 } }
      set { seconds.withLock { $0 = newValue } }
    }
  }

  init() throws {
    let name = folder.file("media/deep")
    try FileManager.default.createDirectory(atPath: name, withIntermediateDirectories: true)
    try write(Self.content(7))
    let file = Media(kind: .image, url: Self.url)
    let others = ["/media/gone.gif", "https://a.example/media/a.gif", "/media/a.gif?x=1"]
    var post = Post(
      id: "p", type: .carousel, media: [file] + others.map { Media(kind: .image, url: $0) })
    post.thumbnail = Self.url
    post.author = Author(avatar: Self.url)
    post.media[0].poster = Self.url
    try store.load([.post(post, placements: [Placement(feed: "f", rank: 1)])])
  }

  /// A file's bytes, by a number.
  static func content(_ number: Int) -> [UInt8] {
    Array("GIF89a".utf8) + (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* number &+ $0 >> 8) }
  }

  static func version(of bytes: [UInt8]) -> String { String(digits(of: bytes).prefix(32)) }

  static func digits(of bytes: [UInt8]) -> String {
    SHA256.hash(Array(bytes)).map { String(format: "%02x", $0) }.joined()
  }

  var path: String { folder.file("media/deep/er (1).gif") }

  /// Writes the file, last modified long ago.
  func write(_ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    try setModified()
  }

  func setModified() throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_600_000_000)], ofItemAtPath: path)
  }

  /// Has the store know the file as it is, with the content of these bytes.
  func index(as bytes: [UInt8]) throws {
    let status = try FileStatus(path: path)
    let truth = MediaTruth(
      kind: .image, bytes: status.bytes, mimeType: "image/gif",
      version: .content(sha256: SHA256.hash(Array(bytes))))
    try store.keep([
      KnownMedia(
        url: Self.url, truth: truth,
        changedNanoseconds: Int64(status.changed.nanosecondsSince1970))
    ])
  }

  func server(
    keys: [String] = [], configure: (inout ApplicationConfiguration) -> Void = { _ in }
  ) throws -> RunningServer {
    let clock = clock
    return try RunningServer(on: store) {
      $0.mediaRoot = folder.file("media")
      $0.mediaSigningKeys = keys.map { Array($0.utf8) }
      $0.mediaURLSeconds = 1_000
      $0.mediaURLStepSeconds = 100
      $0.mediaURLClock = { clock.now }
      configure(&$0)
    }
  }
}

extension TestAnswer {
  /// A member of the first file of the first item.
  func file(_ member: String) -> String? { file(0, member) }

  func file(_ index: Int, _ member: String) -> String? {
    let item = (json["items"] as? [[String: Any]])?.first ?? json
    return (item["media"] as? [[String: Any]])?[index][member] as? String
  }
}
