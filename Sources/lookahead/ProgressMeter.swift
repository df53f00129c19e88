import Foundation
import Seeding
import Synchronization
import System

/// Shows how far a run has come, on a terminal, and what was wrong, anywhere.
final class ProgressMeter: Sendable {
  private let isTerminal = Descriptor.isTerminal(2)
  private let start = ContinuousClock.now
  private let shown = Mutex(false)
  /// When the next line is due where there is no terminal: each time twice as late, so that they are few.
  private let nextLineSeconds = Mutex(ProgressMeter.firstLineSeconds)
  private static let firstLineSeconds = 5.0

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

  /// Shows a text of how far a run has come, on a terminal in place of the last; elsewhere now and then,
  /// as a line.
  func show(_ text: String) {
    if isTerminal {
      write("\r\(text), \(secondsText) s \u{1b}[K")
      shown.withLock { $0 = true }
      return
    }
    let isDue = nextLineSeconds.withLock { next in
      guard seconds >= next else { return false }
      next = seconds * 2
      return true
    }
    if isDue { printError("\(text), \(secondsText) s") }
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
