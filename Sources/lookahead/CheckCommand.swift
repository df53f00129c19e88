import ArgumentParser
import Backups
import SQLiteStore

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check the database: SQLite's integrity and foreign keys, and our own invariants.")

  @OptionGroup var options: DatabaseOptions

  func run() throws {
    // A backup is read as it lies: opened as a database, it would lose its check sum.
    if let report = try Backup.examine(options.database) {
      for finding in report.findings { print("\(finding.severity.rawValue): \(finding.text)") }
      guard report.errors.isEmpty else { throw ExitCode.failure }
      print("\(options.database) is a whole and sound backup: \(report.posts) posts")
      return
    }
    let store = try SQLiteStore(
      existing: options.database, options: SQLiteStore.Options(file: options.file))
    // Nothing is left beside the file, whatever comes of this.
    defer { try? store.close() }
    print(SQLiteLibrary.summary)
    let findings = try store.check()
    for finding in findings { print("\(finding.severity.rawValue): \(finding.text)") }
    guard !findings.contains(where: { $0.severity == .error }) else { throw ExitCode.failure }
    let posts = try store.feeds().map { "\($0.name) \($0.total)" }.joined(separator: ", ")
    print("\(options.database) is sound: \(posts.isEmpty ? "no feeds" : posts)")
  }
}
