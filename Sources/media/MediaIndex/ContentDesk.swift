import MediaProbe
import System

/// Ensures that files with the same content, found at the same time, are probed once: the first one is
/// probed, the others wait for its result.
///
/// It holds only the contents that are being probed and those that the store does not have yet; both are few.
final class ContentDesk: Sendable {
  typealias Result = Swift.Result<ProbeReport, ProbeError>

  private enum Entry: Sendable {
    case underWay
    case done(Result)
  }

  private let entries = Monitor<[[UInt8]: Entry]>([:])

  /// Waits for the result of probing the content elsewhere. Returns nil if the caller has to probe it, and
  /// then to call `finish` or `release`.
  func claim(_ sha256: [UInt8]) -> Result? {
    entries.wait { entries -> Result?? in
      switch entries[sha256] {
      case .underWay: return nil
      case .done(let result): return .some(result)
      case nil:
        entries[sha256] = .underWay
        return .some(nil)
      }
    }
  }

  /// Publishes the result.
  func finish(_ sha256: [UInt8], _ result: Result) {
    entries.withLock { $0[sha256] = .done(result) }
    entries.notify()
  }

  /// Forgets the content: the store has it, or no caller needs it.
  func release(_ sha256: [UInt8]) {
    entries.withLock { entries in entries[sha256] = nil }
    entries.notify()
  }
}
