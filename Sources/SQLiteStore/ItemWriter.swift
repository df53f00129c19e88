import Catalog
import Feed
import GRDB

/// Makes one write, within a savepoint of its own.
struct ItemWriter {
  let database: Database
  let keys: IdempotencyKeys
  /// The feeds of which the write began a next ranking.
  private(set) var movedFeeds: Set<Int64> = []

  init(database: Database, keys: IdempotencyKeys) {
    self.database = database
    self.keys = keys
  }

  /// - Throws: `FeedError`, what the write's condition throws, `DatabaseError`.
  mutating func run(_ write: ItemWrite) throws -> ItemOutcome {
    // Before the condition, and before asking for the item: it is answered as it was the first time.
    if case .increment(_, let key?) = write.change, let counters = try keys.answer(to: key) {
      return .counted(counters, isReplay: true)
    }
    let stored = try PostReader(database: database).post(withID: write.id)
    if let condition = write.condition { try condition(try stored.map(item)) }
    if case .put(let post, let placements) = write.change {
      return try put(post, placements, over: stored)
    }
    guard let stored else { throw FeedError.unknownItem(write.id) }
    guard case .increment(let increments, let key) = write.change else {
      try execute(Self.deletePost, [stored.number])
      return .deleted
    }
    let counters = try stored.post.counters.adding(increments, ofItem: write.id)
    try execute(Self.updateCounters, [JSONText.text(counters), stored.number])
    if let key { try keys.keep(key, answer: counters) }
    return .counted(counters, isReplay: false)
  }

  private func item(_ stored: PostReader.Stored) throws -> StoredItem {
    try PostReader(database: database).item(stored)
  }

  static let deletePost = "DELETE FROM post WHERE post_id = ?"
  static let updateCounters = "UPDATE post SET counters = ? WHERE post_id = ?"

  private func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }

  private mutating func put(
    _ post: Post, _ placements: [Placement]?, over stored: PostReader.Stored?
  ) throws -> ItemOutcome {
    var batch = ImportBatch(database: database)
    try batch.put(post, placements, over: stored)
    movedFeeds.formUnion(batch.movedFeeds)
    return stored == nil ? .created(post) : .replaced(post)
  }
}
