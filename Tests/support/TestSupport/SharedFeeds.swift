import Foundation

/// The real posts beside the project, which CI has and a user's clone has not.
package enum SharedFeeds {
  private static let folder = Repository.url("../shared/data/feeds")
    .standardized.path

  /// Whether they are there.
  package static let arePresent = FileManager.default.fileExists(atPath: folder)

  /// `featured.ndjson` and its like; not the compressed one.
  package static var files: [String] {
    ["featured", "newest", "videos", "webapps", "photos"].map { "\(folder)/\($0).ndjson" }
  }

  /// The project's own fixtures.
  package static let fixtures = Repository.url("Fixtures").path
}
