import ArgumentParser
import Backups
import Catalog
import Feed
import FeedServer
import JSON

/// Prints the changes since a cursor, as `GET /v1/changes` has them.
struct ChangesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "changes",
    abstract: "Write what changed since a cursor as NDJSON.",
    discussion: """
      Prints one line for each item or feed that changed, with its current state, and a last line \
      with the cursor for the next run, {"next":"…"}. Without --since, only the last line is \
      printed.
      """)

  @Option(help: "Cursor from the last line of an earlier run, or from an answer of /v1/changes.")
  var since: String?

  @OptionGroup var options: DatabaseOptions

  /// The number of changes that are read at a time.
  private static let portion = 1_000

  func run() throws {
    let cursor: ChangeCursor?
    do throws(CursorTextError) {
      cursor = if let since { try ChangeCursor(text: since) } else { nil }
    } catch {
      throw ValidationError("--since is not a cursor of changes")
    }
    if let path = try options.location().path { try Backup.requireNone(at: path) }
    let store = try options.openExisting()
    defer { try? store.close() }
    var place = cursor
    var hasMore = true
    while hasMore {
      let page: ChangePage
      do {
        page = try store.changes(
          after: place, through: nil, limit: Self.portion, withItems: true)
      } catch let error as ChangeCursorError {
        throw ValidationError(
          error == .foreign
            ? "--since is a cursor of another database"
            : "the changes since that cursor are no longer kept: omit --since, and copy everything"
        )
      }
      try printBytes(page.changes.flatMap { $0.json + [UInt8(ascii: "\n")] })
      place = page.next
      hasMore = page.hasMore
    }
    print("{\"next\":\"\(place?.text ?? "")\"}")
  }
}
