import MediaFiles
import System

/// Gives out the files of all that was named, one at a time, to whoever asks.
///
/// Nothing is listed ahead: a file is looked for when somebody has time for it.
final class MediaQueue: Sendable {
  /// What is to be done.
  enum Work: Sendable {
    /// A file, and whether it was named itself.
    case file([String], isNamed: Bool)
    /// Something that is not served.
    case notServed([String])
    /// What could not be looked at, and why.
    case problem(path: String, reason: String)
  }

  private struct State: Sendable {
    var targets: ArraySlice<MediaTarget>
    var walk: MediaWalk?
    var isStopped = false
  }

  private let root: MediaRoot
  private let state: Monitor<State>

  init(_ targets: [MediaTarget], in root: MediaRoot) {
    self.root = root
    state = Monitor(State(targets: targets[...]))
  }

  /// Gives out nothing more.
  func stop() { state.withLock { $0.isStopped = true } }

  /// What comes next; nil at the end.
  func next() -> Work? {
    state.withLock { state in
      while !state.isStopped {
        if let step = state.walk?.next() {
          switch step {
          case .file(let segments): return .file(segments, isNamed: false)
          case .notServed(let segments): return .notServed(segments)
          case .problem(let path, let problem):
            return .problem(path: path, reason: problem.description)
          }
        }
        state.walk = nil
        switch state.targets.popFirst() {
        case .file(let segments): return .file(segments, isNamed: true)
        case .folder(let segments):
          do throws(MediaError) {
            state.walk = try MediaWalk(root, below: segments)
          } catch {
            return .problem(
              path: segments.joined(separator: "/"),
              reason: MediaWalk.WalkProblem.media(error).description)
          }
        case nil: return nil
        }
      }
      return nil
    }
  }
}
