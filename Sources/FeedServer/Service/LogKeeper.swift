import Logging
import SQLiteStore
import Synchronization

/// Looks at the database's write-ahead log now and then, and keeps it small.
final class LogKeeper: Sendable {
  /// What a look came to.
  enum Outcome: String, CaseIterable, Sendable {
    case cut, held, failed
  }

  private let log: WriteAheadLog
  private let logger: Logger
  private let count: @Sendable (Outcome) -> Void
  /// How often in a row the log was too large and held.
  private let heldLooks = Atomic<Int>(0)
  /// As often before it is said: a backup, too, holds it for a while.
  private static let looksBeforeWarning = 6

  init(_ log: WriteAheadLog, logger: Logger, count: @escaping @Sendable (Outcome) -> Void) {
    self.log = log
    self.logger = logger
    self.count = count
  }

  func look() {
    do {
      switch try log.look() {
      case .small: heldLooks.store(0, ordering: .relaxed)
      case .cut:
        heldLooks.store(0, ordering: .relaxed)
        count(.cut)
      case .held(let bytes):
        count(.held)
        let looks = heldLooks.add(1, ordering: .relaxed).newValue
        guard looks == Self.looksBeforeWarning else { return }
        logger.warning(
          "the write-ahead log cannot be cut: something reads the database for very long",
          metadata: ["bytes": "\(bytes)"])
      }
    } catch {
      count(.failed)
      logger.error("cannot look after the write-ahead log: \(error)")
    }
  }
}
