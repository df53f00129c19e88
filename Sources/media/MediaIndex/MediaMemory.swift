import MediaFiles
import Synchronization
import System

/// The outcomes of files when they were last inspected, for repeated runs: an unchanged file, whether known,
/// broken or not a media file, costs only reading its status.
///
/// For each file it keeps two hashes, of its name and of its status. The number of files is limited.
package final class MediaMemory: Sendable {
  /// The kind of a remembered outcome.
  package enum Fate: Sendable {
    case known, passedOver, failed
  }

  private struct Entry {
    let stamp: Int
    let fate: Fate
  }

  private static let maximumFiles = 1 << 20

  private let entries = Mutex<[Int: Entry]>([:])

  /// Creates an empty memory.
  package init() {}

  /// The number of remembered files.
  package var count: Int { entries.withLock { $0.count } }

  /// Returns the outcome of the file with this name and stamp; nil if it is not remembered.
  func fate(of name: String, _ stamp: Int) -> Fate? {
    let entry = entries.withLock { $0[Self.key(name)] }
    return entry?.stamp == stamp ? entry?.fate : nil
  }

  func remember(_ name: String, _ stamp: Int, _ fate: Fate) {
    entries.withLock { entries in
      let key = Self.key(name)
      guard entries.count < Self.maximumFiles || entries[key] != nil else { return }
      entries[key] = Entry(stamp: stamp, fate: fate)
    }
  }

  /// Forgets all outcomes but failures, so that the next run inspects those files again: another process may
  /// have changed the stored facts.
  package func forgetAllButFailures() {
    entries.withLock { entries in entries = entries.filter { $0.value.fate == .failed } }
  }

  /// Forgets everything.
  package func forgetAll() { entries.withLock { $0 = [:] } }

  private static func key(_ name: String) -> Int {
    var hasher = Hasher()
    name.utf8.forEach { hasher.combine($0) }
    return hasher.finalize()
  }

  /// The stamp of a status: a hash of the size and the last change.
  static func stamp(_ status: MediaStatus) -> Int {
    var hasher = Hasher()
    hasher.combine(status.bytes)
    hasher.combine(status.changed)
    return hasher.finalize()
  }

  /// The stamp of a file's status: a hash of the file's number, its size and the last change.
  static func stamp(_ status: FileStatus) -> Int {
    var hasher = Hasher()
    hasher.combine(status.number)
    hasher.combine(status.bytes)
    hasher.combine(status.changed)
    return hasher.finalize()
  }

  /// The stamp of a missing file.
  static let absent = 0
}
