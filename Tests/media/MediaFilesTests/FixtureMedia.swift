import Foundation
import TestSupport

/// The project's own media, and the records that name them.
enum FixtureMedia {
  /// A post of one of the feeds, as far as its media go; `record` is all of it but the feeds.
  struct Post: Sendable {
    let feed: String
    let id: String
    let record: Data
    let parts: [Part]
    let thumbnail: String?
  }

  /// A file of a post.
  struct Part: Decodable, Sendable, CustomStringConvertible {
    let kind: String
    let url: String
    let mimeType: String?
    let codec: String?
    let width: Int?
    let height: Int?
    let durationMs: Int?
    let bytes: Int?

    var description: String { url }
  }

  static let folder = SharedFeeds.fixtures + "/media"
  /// The feed whose posts' files are there.
  static let feed = "featured"

  /// The posts of all feeds, as often as they stand there.
  static let posts: [Post] = ["featured", "newest", "stories", "videos"].flatMap { posts(of: $0) }

  private static func posts(of feed: String) -> [Post] {
    let text = FileManager.default.contents(atPath: "\(SharedFeeds.fixtures)/\(feed).ndjson")!
    // The first line names the feed.
    return text.split(separator: UInt8(ascii: "\n")).dropFirst().map { post($0, of: feed) }
  }

  private static func post(_ line: Data, of feed: String) -> Post {
    struct Fields: Decodable {
      let id: String
      let media: [Part]?
      let thumbnail: String?
    }
    let fields = try! JSONDecoder().decode(Fields.self, from: line)
    var record = try! JSONSerialization.jsonObject(with: line) as! [String: Any]
    record["feeds"] = nil
    return Post(
      feed: feed, id: fields.id,
      record: try! JSONSerialization.data(withJSONObject: record, options: .sortedKeys),
      parts: fields.media ?? [], thumbnail: fields.thumbnail)
  }

  /// The files of the posts of `feed`.
  static let parts = posts.filter { $0.feed == feed }.flatMap(\.parts)

  /// What stands in the folder, by paths beneath it, but for the smaller files beside others.
  static func names() throws -> Set<String> {
    try namesOfAll().filter { !$0.contains("/_renditions/") }
  }

  /// Everything that stands in the folder, by paths beneath it.
  static func namesOfAll() throws -> Set<String> {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder)
    return Set(
      paths.filter { path in
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: "\(folder)/\(path)", isDirectory: &isFolder)
        return !isFolder.boolValue
      })
  }

  /// The path beneath the folder to which a URL of `/media/` leads; nil for another.
  static func name(of url: String) -> String? {
    url.hasPrefix("/media/") ? String(url.dropFirst("/media/".count)) : nil
  }

  static func bytes(of name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
  }
}
