import ArgumentParser
import Backups
import Catalog
import SQLiteStore

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check the database: SQLite's integrity and foreign keys, and our own invariants.")

  /// So many feeds are named, the rest is counted.
  private static let namedFeeds = 30

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
    let page = try store.feeds(FeedListQuery(limit: Self.namedFeeds))
    var feeds = page.feeds.map { "\($0.name) \($0.total)" }
    if page.total > feeds.count { feeds.append("and \(page.total - feeds.count) more feeds") }
    let said = feeds.isEmpty ? "no feeds" : feeds.joined(separator: ", ")
    print("\(options.database) is sound: \(said)")
  }
}
