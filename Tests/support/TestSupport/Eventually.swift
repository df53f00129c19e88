import Glibc

/// How often something is looked at before it counts as never coming: for two minutes and more, so that a busy
/// machine fails no test. What never ends at all is ended, and named, by `script/test`.
private let looks = 24_000

/// Waits until something is so.
///
/// - Returns: whether it came to be.
@discardableResult
package func eventually(_ isSo: () throws -> Bool) rethrows -> Bool {
  for _ in 0..<looks {
    if try isSo() { return true }
    usleep(5_000)
  }
  return false
}

/// Waits until something is so, and leaves the thread to others meanwhile.
///
/// - Returns: whether it came to be.
@discardableResult
package func eventuallyAsync(
  isolation: isolated (any Actor)? = #isolation, _ isSo: () async throws -> Bool
) async throws -> Bool {
  for _ in 0..<looks {
    if try await isSo() { return true }
    try await Task.sleep(for: .milliseconds(5))
  }
  return false
}
