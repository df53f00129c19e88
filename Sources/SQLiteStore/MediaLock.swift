import System

/// Says that a server looks into the media files of a database, for as long as it lives and no longer.
///
/// It is a lock on an empty file beside the database, which stays there: removing it while another server opens it
/// would give each a lock of its own.
final class MediaLock: Sendable {
  private let file: Descriptor

  /// The same for all who open the database, by whatever links.
  static func path(ofDatabase path: String) -> String {
    (FileSystem.resolvingLinks(path) ?? path) + "-media"
  }

  /// Nil where somebody else has it.
  ///
  /// - Throws: `SystemError` where the file cannot be made.
  init?(path: String) throws(SystemError) {
    file = try Descriptor(path, [.readingAndWriting, .creating], mode: 0o644)
    guard file.tryLock() else { return nil }
  }
}
