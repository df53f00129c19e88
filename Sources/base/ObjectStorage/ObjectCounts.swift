import Synchronization

/// Counts of the requests to an object store and of their outcomes.
package final class ObjectCounts: Sendable {
  /// The kind of a request.
  package enum Kind: String, CaseIterable, Sendable {
    case look, read, write, delete, list
  }

  /// The outcome of a try.
  package enum Outcome: String, CaseIterable, Sendable {
    case ok
    /// The object does not exist.
    case missing
    /// The store refused the request.
    case refused
    /// The store is unreachable, late, or overloaded.
    case failed
  }

  private struct Counts {
    var outcomes: [[Int]] = Array(
      repeating: Array(repeating: 0, count: Outcome.allCases.count), count: Kind.allCases.count)
    var sentBytes = 0
    var receivedBytes = 0
  }

  private let counts = Mutex(Counts())

  init() {}

  private static let kinds = Dictionary(
    uniqueKeysWithValues: zip(Kind.allCases, Kind.allCases.indices))
  private static let outcomes = Dictionary(
    uniqueKeysWithValues: zip(Outcome.allCases, Outcome.allCases.indices))

  func count(_ kind: Kind, _ outcome: Outcome, sent: Int = 0, received: Int = 0) {
    guard let kind = Self.kinds[kind], let outcome = Self.outcomes[outcome] else { return }
    counts.withLock { counts in
      counts.outcomes[kind][outcome] += 1
      counts.sentBytes += sent
      counts.receivedBytes += received
    }
  }

  /// The number of tries of this kind with this outcome.
  package func count(of kind: Kind, _ outcome: Outcome) -> Int {
    guard let kind = Self.kinds[kind], let outcome = Self.outcomes[outcome] else { return 0 }
    return counts.withLock { $0.outcomes[kind][outcome] }
  }

  /// The number of bytes that were sent in bodies.
  package var sentBytes: Int { counts.withLock { $0.sentBytes } }
  /// The number of bytes that were received in bodies.
  package var receivedBytes: Int { counts.withLock { $0.receivedBytes } }
}
