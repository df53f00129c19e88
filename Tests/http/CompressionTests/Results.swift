import Synchronization

/// What several threads found, for the test to look at when they are done: an expectation that fails
/// on a thread of its own would not be counted as the test's.
final class Results<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])

  func add(_ value: Value) { values.withLock { $0.append(value) } }

  var all: [Value] { values.withLock { $0 } }
}
