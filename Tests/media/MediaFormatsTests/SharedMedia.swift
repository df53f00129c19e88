import Foundation
import TestSupport

/// The real media beside the project, which CI has and a user's clone has not.
enum SharedMedia {
  /// A file and what its makers say that it is.
  struct Entry: Decodable, Sendable, CustomStringConvertible {
    struct Truth: Decodable {
      let mime: String?
      let bytes: Int64?
      let width: Int?
      let height: Int?
      let display_width: Int?
      let display_height: Int?
      let sample_aspect_ratio: String?
      let exif_orientation: Int?
      let frames: Int?
      let video_codec: String?
      let audio_codec: String?
      let has_audio: Bool?
      let duration_s: Double?
      let moov: String?
    }

    let path: String
    let truth: Truth?

    var description: String { path }
  }

  static let folder = URL(fileURLWithPath: SharedFeeds.fixtures)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("shared/data/media").path

  /// Whether they are there.
  static let arePresent = FileManager.default.fileExists(atPath: "\(folder)/manifest.json")

  /// What the manifest lists; empty if there is none.
  static let entries: [Entry] = {
    guard let data = FileManager.default.contents(atPath: "\(folder)/manifest.json") else {
      return []
    }
    return try! JSONDecoder().decode([Entry].self, from: data)
  }()

  static var whole: [Entry] { entries.filter { $0.truth?.mime != nil } }
  /// What FFmpeg is asked about, which takes seconds for each: some in each run, all by night.
  static let videos = TestRandom.some(4, of: whole.filter { $0.truth?.video_codec != nil })
  static var broken: [Entry] { entries.filter { $0.path.hasPrefix("broken/") } }

  /// All bytes of a file.
  static func bytes(of entry: Entry) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(entry.path)")))
  }
}
