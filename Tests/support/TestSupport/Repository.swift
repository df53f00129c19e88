import Foundation

/// The folder that these tests were built from.
package enum Repository {
  package static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// A file or folder of it, by its path from the root.
  package static func url(_ path: String) -> URL { root.appendingPathComponent(path) }

  /// A text of it.
  package static func text(_ path: String) throws -> String {
    try String(contentsOf: url(path), encoding: .utf8)
  }
}
