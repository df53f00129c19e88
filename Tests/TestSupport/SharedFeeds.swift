import Foundation

/// The real posts beside the project, which CI has and a user's clone has not.
public enum SharedFeeds {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("shared/data/feeds").path

  /// Whether they are there.
  public static let arePresent = FileManager.default.fileExists(atPath: folder)

  /// `featured.ndjson` and its like; not the compressed one.
  public static var files: [String] {
    ["featured", "newest", "videos", "webapps", "photos"].map { "\(folder)/\($0).ndjson" }
  }

  /// The project's own fixtures.
  public static let fixtures = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fixtures").path
}
