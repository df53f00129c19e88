import Glibc
import HTTP
import System

/// The page that `lookahead lab report` wrote last, in the file of `--lab-report`.
struct LabReportFile: Sendable {
  /// What it is called among the page's files.
  static let name = "lab-report.html"
  static let path = "/page/\(name)"
  /// A larger file is no report.
  static let maximumBytes = 32 << 20

  let file: String

  /// The current content.
  ///
  /// - Throws: `Problem` 404 if there is no report, or none yet; `SystemError` if it cannot be read.
  func read() throws -> [UInt8] {
    let descriptor: Descriptor
    do throws(SystemError) {
      descriptor = try Descriptor(file, .withoutWaiting)
    } catch {
      guard error.code == ENOENT else { throw error }
      throw Self.none("There is no report of the lab yet.")
    }
    guard let file = OpenFile(descriptor) else { throw Self.none("The lab's report is no file.") }
    guard file.size <= Self.maximumBytes else { throw Self.none("The lab's report is too large.") }
    return try file.read(at: 0, count: file.size)
  }

  private static func none(_ words: String) -> Problem {
    Problem(.unknownRoute, .notFound, words)
  }
}
