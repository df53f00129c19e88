import Foundation
import Seeding
import Synchronization

/// Shows how far a run has come, on a terminal, and what was wrong, anywhere.
final class ProgressMeter: Sendable {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let start = ContinuousClock.now
  private let shown = Mutex(false)

  var seconds: Double {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }

  /// The seconds so far with one decimal.
  var secondsText: String { String(format: "%.1f", seconds) }

  func show(_ progress: SeedProgress) {
    guard isTerminal else { return }
    let rate = Int(Double(progress.records) / max(seconds, 0.001))
    let skipped = progress.skipped > 0 ? ", \(progress.skipped) skipped" : ""
    write("\r\(progress.records) records\(skipped), \(rate) a second \u{1b}[K")
    shown.withLock { $0 = true }
  }

  func report(_ problem: SeedProblem) {
    clear()
    printError(problem.description)
  }

  func clear() {
    let wasShown = shown.withLock { shown in
      defer { shown = false }
      return shown
    }
    if wasShown { write("\r\u{1b}[K") }
  }

  private func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
