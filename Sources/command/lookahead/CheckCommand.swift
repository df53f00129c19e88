import ArgumentParser
import Backups
import Catalog

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract:
      "Check the database: SQLite's integrity and foreign keys, and the program's own invariants.")

  /// The maximum number of feeds with their names in the output; the rest is counted.
  private static let namedFeeds = 30

  @OptionGroup var options: DatabaseOptions

  func run() throws {
    // A backup is read as a file: opening it as a database would change its checksum.
    let location = try options.location()
    if let path = location.path, let report = try Backup.examine(path) {
      for finding in report.findings { print("\(finding.severity.rawValue): \(finding.text)") }
      guard report.errors.isEmpty else { throw ExitCode.failure }
      print("\(location.name) is a complete and sound backup: \(report.posts) posts")
      return
    }
    let store = try options.openExisting()
    // Closes the store after errors, too, so that no files remain beside the database.
    defer { try? store.close() }
    print(try store.software())
    let findings = try store.check()
    for finding in findings { print("\(finding.severity.rawValue): \(finding.text)") }
    guard !findings.contains(where: { $0.severity == .error }) else { throw ExitCode.failure }
    let page = try store.feeds(FeedListQuery(limit: Self.namedFeeds))
    var feeds = page.feeds.map { "\($0.name) \($0.total)" }
    if page.total > feeds.count { feeds.append("and \(page.total - feeds.count) more feeds") }
    let said = feeds.isEmpty ? "no feeds" : feeds.joined(separator: ", ")
    print("\(location.name) is sound: \(said)")
  }
}
