import MediaProbe
import System

/// Sees to it that files with the same content, found at the same time, are probed once: the first one is, the
/// others wait for what comes of it.
///
/// What it holds is what is being probed and what the store does not have yet; both are few.
final class ContentDesk: Sendable {
  typealias Result = Swift.Result<ProbeReport, ProbeError>

  private enum Entry: Sendable {
    case underWay
    case done(Result)
  }

  private let entries = Monitor<[[UInt8]: Entry]>([:])

  /// What came of probing the content elsewhere, once that is known; nil where the caller is to do it, who
  /// then calls `finish` or `release`.
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

  /// Says what came of it.
  func finish(_ sha256: [UInt8], _ result: Result) {
    entries.withLock { $0[sha256] = .done(result) }
    entries.notify()
  }

  /// Forgets the content: the store has it, or no caller needs it any more.
  func release(_ sha256: [UInt8]) {
    entries.withLock { entries in entries[sha256] = nil }
    entries.notify()
  }
}
