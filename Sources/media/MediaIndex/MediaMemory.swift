import MediaFiles
import Synchronization
import System

/// The outcomes of files when they were last inspected, for runs that follow each other: an unchanged file costs
/// no more than reading its status, whether it is known, broken or not a media file at all.
///
/// For each file it keeps two hashes, of its name and of its status; the number of files is limited.
package final class MediaMemory: Sendable {
  /// What became of a file.
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

  /// How many files are remembered.
  package var count: Int { entries.withLock { $0.count } }

  /// What became of what has this name when it looked so; nil where that is not known.
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

  /// Has files looked at in earnest again that are not broken: somebody else may have changed what is known.
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

  /// What a file looks like: which one it is, its size, and when anything of it changed.
  static func stamp(_ status: MediaStatus) -> Int {
    var hasher = Hasher()
    hasher.combine(status.bytes)
    hasher.combine(status.changed)
    return hasher.finalize()
  }

  /// The same of a file.
  static func stamp(_ status: FileStatus) -> Int {
    var hasher = Hasher()
    hasher.combine(status.number)
    hasher.combine(status.bytes)
    hasher.combine(status.changed)
    return hasher.finalize()
  }

  /// What nothing looks like.
  static let absent = 0
}
