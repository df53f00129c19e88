import HTTP
import Synchronization

/// Whether clients should send requests to the server: not while it drains, and not while it cannot read its
/// database.
package final class Readiness: Sendable {
  private struct State {
    var isDraining = false
    var storeProblem: String?
  }

  private let state = Mutex(State())

  /// Makes the server not ready for good.
  func beginDraining() {
    state.withLock { $0.isDraining = true }
  }

  /// Records that the database was read.
  package func noteSuccess() {
    state.withLock { $0.storeProblem = nil }
  }

  /// Records that the database could not be read. Returns `false` if the problem was known.
  package func note(storeProblem problem: String) -> Bool {
    state.withLock { state in
      defer { state.storeProblem = problem }
      return state.storeProblem != problem
    }
  }

  /// - Throws: `Problem` 503 if the server is not ready.
  func representation() throws -> Representation {
    let state = state.withLock { $0 }
    if state.isDraining {
      throw Problem(.notReady, .serviceUnavailable, "The server is shutting down.")
    }
    if state.storeProblem != nil {
      throw Problem(.notReady, .serviceUnavailable, "The database cannot be read.")
    }
    return Representation(Array(#"{"status":"ready"}"#.utf8), caching: .none)
  }
}
