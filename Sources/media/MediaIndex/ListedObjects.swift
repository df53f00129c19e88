import MediaFiles
import Synchronization
import System

/// What the last list of a bucket had, so that what is asked of many objects right after it takes no request for each.
///
/// How many are kept is limited; the others are asked for.
final class ListedObjects: Sendable {
  /// What is known of an object without a request.
  enum Entry {
    case found(MediaStatus)
    /// It was not in the list, which had all.
    case absent
    case unknown
  }

  private struct State {
    var entries: [Int: MediaStatus] = [:]
    var hasAll = false
  }

  private static let maximumObjects = 1 << 16

  private let state = Mutex(State())

  /// A list of all objects begins.
  func begin() { state.withLock { $0 = State() } }

  /// An object of it.
  func add(_ segments: [String], _ status: MediaStatus) {
    state.withLock { state in
      guard state.entries.count < Self.maximumObjects else { return }
      state.entries[Self.key(segments)] = status
    }
  }

  /// It is at its end.
  func end() {
    state.withLock { $0.hasAll = $0.entries.count < Self.maximumObjects }
  }

  /// What it had of an object.
  func entry(_ segments: [String]) -> Entry {
    state.withLock { state in
      state.entries[Self.key(segments)].map(Entry.found) ?? (state.hasAll ? .absent : .unknown)
    }
  }

  private static func key(_ segments: [String]) -> Int {
    var hasher = Hasher()
    for segment in segments {
      segment.utf8.forEach { hasher.combine($0) }
      hasher.combine(UInt8(ascii: "/"))
    }
    return hasher.finalize()
  }
}
