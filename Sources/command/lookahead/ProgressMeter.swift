import Foundation
import Seeding
import Synchronization
import System

/// Shows how far a run has come, on a terminal, and what was wrong, anywhere.
final class ProgressMeter: Sendable {
  private let isTerminal: Bool
  private let elapsed: @Sendable () -> Double
  private let write: @Sendable (String) -> Void
  private let shown = Mutex(false)
  /// When the next line is due where there is no terminal: each time twice as late, so that they are few.
  private let nextLineSeconds = Mutex(ProgressMeter.firstLineSeconds)
  private static let firstLineSeconds = 5.0

  /// A meter of standard error and of the time from now on.
  convenience init() {
    let start = MonotonicClock.nanoseconds
    self.init(
      isTerminal: Descriptor.isTerminal(2),
      elapsed: { Double(MonotonicClock.nanoseconds - start) / 1e9 },
      write: writeError)
  }

  /// A meter of what takes text, and of the seconds that something tells.
  init(
    isTerminal: Bool, elapsed: @escaping @Sendable () -> Double,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.isTerminal = isTerminal
    self.elapsed = elapsed
    self.write = write
  }

  var seconds: Double { elapsed() }

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
    if isDue { write("\(text.escapedForTerminal()), \(secondsText) s\n") }
  }

  func report(_ problem: SeedProblem) { report(problem.description) }

  /// Shows a line that stays.
  func report(_ line: String) {
    clear()
    write(line.escapedForTerminal() + "\n")
  }

  func clear() {
    let wasShown = shown.withLock { shown in
      defer { shown = false }
      return shown
    }
    if wasShown { write("\r\u{1b}[K") }
  }
}
