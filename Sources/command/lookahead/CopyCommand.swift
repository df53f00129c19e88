import ArgumentParser
import Backups
import RowStore
import Service

struct CopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Copy everything from one database into another, of any kind.",
    discussion: """
      Each is the path of a SQLite file or the address of a PostgreSQL database, as --database takes it. TO is made \
      where it is not there, and has to be empty. All is copied as it was at one moment: posts, feeds with the \
      rankings that are kept, policies, what is known of media files, idempotency keys; pages and cursors are the \
      same afterwards, to the byte. It is one transaction: where it ends before its time, nothing of it is in TO, \
      and the same command begins anew. What FROM gets meanwhile is not in TO: stop its writers first.
      """)

  @Argument(help: "Database to copy.")
  var from: String

  @Argument(help: "Database to copy into.")
  var to: String

  @Option("busy-timeout-milliseconds") var busyTimeoutMilliseconds: Int

  mutating func validate() throws {
    try Setting.validate(self)
    guard !from.isEmpty, !to.isEmpty else { throw ValidationError("FROM, TO: the path is empty") }
    guard try StoreLocation(option: from) != StoreLocation(option: to) else {
      throw ValidationError("FROM and TO are the same")
    }
  }

  func run() throws {
    let (from, to) = (try StoreLocation(option: from), try StoreLocation(option: to))
    if let path = from.path { try Backup.requireNone(at: path) }
    var opening = StoreOpening()
    opening.file.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    let source = try opening.open(existing: from).store
    defer { try? source.close() }
    opening.file = opening.file.forMuch
    let target = try opening.open(to).store
    let meter = ProgressMeter()
    var posts = 0
    let copying = Result {
      try target.writeTables { write in
        try source.readTables { table, rows in
          try write(table, rows)
          guard table.name == "post" else { return }
          posts += rows.count
          meter.show("\(posts) posts copied")
        }
      }
    }
    let indexing = Result {
      if case .success = copying { try target.indexAllTexts(meter) }
    }
    meter.clear()
    let closing = Result { try target.close() }
    try copying.get()
    try indexing.get()
    try closing.get()
    print("\(to.name): \(posts) posts of \(from.name), in \(meter.secondsText) s")
  }
}

extension DatabaseStore {
  /// Indexes the texts of all posts that are not yet indexed.
  func indexAllTexts(_ meter: ProgressMeter) throws {
    while case let left = try indexTexts(atMost: 1_000), left > 0 {
      meter.show("\(left) posts left to index")
    }
    meter.clear()
  }
}
