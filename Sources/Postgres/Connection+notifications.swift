import CPostgres
import Glibc

/// What a server says that was not asked.
extension Connection {
  /// Waits until the server tells of something that this connection listens to (`LISTEN`), or the time is over.
  ///
  /// - Returns: whether it did; all that it told is taken.
  /// - Throws: `PostgresError.lost`.
  public func waitForNotification(atMostMilliseconds limit: Int) throws(PostgresError) -> Bool {
    guard !isLost else { throw .lost(reason: "it was given up before") }
    if takeNotifications() { return true }
    guard poll(Int16(POLLIN), atMost: .milliseconds(limit)) != nil else { return false }
    guard PQconsumeInput(handle) == 1 else { throw lost() }
    return takeNotifications()
  }

  /// Whether the server is still there, as far as can be seen without asking it.
  var isThere: Bool {
    guard !isLost else { return false }
    guard let ready = poll(Int16(POLLIN), atMost: .zero) else { return true }
    if ready != 0, PQconsumeInput(handle) != 1 { isLost = true }
    return !isLost
  }

  private func takeNotifications() -> Bool {
    var isAny = false
    while let notification = PQnotifies(handle) {
      PQfreemem(notification)
      isAny = true
    }
    return isAny
  }
}
