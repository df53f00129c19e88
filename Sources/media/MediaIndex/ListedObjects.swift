import MediaFiles
import Synchronization
import System

/// The objects in the last list of a bucket, so that queries right after it take no request for each object.
///
/// The number of kept objects is limited; others take a request.
final class ListedObjects: Sendable {
  /// The knowledge about an object without a request.
  enum Entry {
    case found(MediaStatus)
    /// The list was complete and did not contain the object.
    case absent
    case unknown
  }

  private struct State {
    var entries: [Int: MediaStatus] = [:]
    var hasAll = false
  }

  private static let maximumObjects = 1 << 16

  private let state = Mutex(State())

  /// Begins a list of all objects.
  func begin() { state.withLock { $0 = State() } }

  /// Adds an object of the list.
  func add(_ segments: [String], _ status: MediaStatus) {
    state.withLock { state in
      guard state.entries.count < Self.maximumObjects else { return }
      state.entries[Self.key(segments)] = status
    }
  }

  /// Ends the list.
  func end() {
    state.withLock { $0.hasAll = $0.entries.count < Self.maximumObjects }
  }

  /// Returns what the list had for an object.
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
