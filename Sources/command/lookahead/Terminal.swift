import Foundation
import Observability
import Synchronization
import System

/// The first failure of standard output.
private let failure = Mutex<SystemError?>(nil)

/// Prints a line on standard output for users. Every `print` in this module is this one, so that control
/// characters in other people's names never reach a terminal unescaped.
func print(_ text: String) {
  // `main` reports a failure at the end: the command's other work continues.
  try? printBytes(Array((text.escapedForTerminal() + "\n").utf8))
}

/// Prints a text of several lines on standard output, unescaped.
func printText(_ text: String) { try? printBytes(Array(text.utf8)) }

/// Writes bytes on standard output, unchanged.
///
/// - Throws: `SystemError`, from the first failure on, so that a caller with much more to write stops.
func printBytes(_ bytes: [UInt8]) throws(SystemError) {
  if let failure = failure.withLock({ $0 }) { throw failure }
  do throws(SystemError) {
    try StandardStream.output.write(bytes)
  } catch {
    failure.withLock { $0 = error }
    throw error
  }
}

/// Prints a line on standard error for users; ignores failures of standard error.
func printError(_ text: String) {
  writeError(text.escapedForTerminal() + "\n")
}

/// Writes a text on standard error, unescaped; ignores failures of standard error.
func writeError(_ text: String) {
  try? StandardStream.error.write(Array(text.utf8))
}

/// Ends the program if standard output could not be written: quietly if its reader has closed it, as other
/// programs do, otherwise with status 1.
func exitIfOutputFailed() {
  guard let failure = failure.withLock({ $0 }) else { return }
  if failure.code == EPIPE { Signals.endByBrokenPipe() }
  printError("cannot \(failure.purpose): \(failure.reason)")
  Foundation.exit(EXIT_FAILURE)
}

/// Sizes as text for users.
enum ByteCount {
  private static let units = ["KB", "MB", "GB", "TB"]

  /// For example `512 bytes`, `1.5 MB`; a KB has 1000 bytes.
  static func text(_ bytes: Int) -> String {
    var value = Double(bytes)
    var unit = "bytes"
    for next in units where value >= 1000 {
      value /= 1000
      unit = next
    }
    return unit == "bytes" ? "\(bytes) bytes" : String(format: "%.1f \(unit)", value)
  }
}
