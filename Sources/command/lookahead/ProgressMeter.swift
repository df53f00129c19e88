import Foundation
import Seeding
import Synchronization
import System

/// Shows the progress of a run on a terminal, and problems everywhere.
final class ProgressMeter: Sendable {
  private let isTerminal: Bool
  private let elapsed: @Sendable () -> Double
  private let write: @Sendable (String) -> Void
  private let shown = Mutex(false)
  /// The time of the next line without a terminal; it doubles with each line, so that there are few.
  private let nextLineSeconds = Mutex(ProgressMeter.firstLineSeconds)
  private static let firstLineSeconds = 5.0

  /// Creates a meter that writes to standard error and measures from now on.
  convenience init() {
    let start = MonotonicClock.nanoseconds
    self.init(
      isTerminal: Descriptor.isTerminal(2),
      elapsed: { Double(MonotonicClock.nanoseconds - start) / 1e9 },
      write: writeError)
  }

  /// Creates a meter with another output and clock.
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

  /// Shows the progress: on a terminal in place of the previous text, elsewhere now and then as a line.
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

  /// Shows a permanent line.
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
