import Synchronization

/// What was asked of an object store, and what came of it.
package final class ObjectCounts: Sendable {
  /// What a request is for.
  package enum Kind: String, CaseIterable, Sendable {
    case look, read, write, delete, list
  }

  /// What came of a try.
  package enum Outcome: String, CaseIterable, Sendable {
    case ok
    /// There is no such object.
    case missing
    /// The store does not do it.
    case refused
    /// The store is away, late, or has too much to do.
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

  /// How many tries came to that.
  package func count(of kind: Kind, _ outcome: Outcome) -> Int {
    guard let kind = Self.kinds[kind], let outcome = Self.outcomes[outcome] else { return 0 }
    return counts.withLock { $0.outcomes[kind][outcome] }
  }

  /// How many bytes of objects went there.
  package var sentBytes: Int { counts.withLock { $0.sentBytes } }
  /// How many came from there.
  package var receivedBytes: Int { counts.withLock { $0.receivedBytes } }
}
