import Catalog
import Feed
import GRDB

/// Makes one write of a feed, within a savepoint of its own. What belongs to a feed follows by triggers,
/// whichever program changes its row.
struct FeedWriter {
  let database: Database

  /// - Throws: `FeedError`, what the write's condition throws, `DatabaseError`.
  func run(_ write: FeedWrite) throws -> FeedOutcome {
    let stored = try row(write.name)
    try write.condition?(stored)
    switch write.change {
    case .put(let title):
      if stored == nil {
        try execute("INSERT INTO feed (name, title) VALUES (?, ?)", [write.name, title])
        return .created
      }
      if stored?.title.map({ Array($0.utf8) }) != title.map({ Array($0.utf8) }) {
        try execute("UPDATE feed SET title = ? WHERE name = ?", [title, write.name])
      }
      return .replaced
    case .rename(let name, let title):
      guard stored != nil else { throw FeedError.unknownFeed(write.name) }
      guard try row(name) == nil else { throw FeedError.feedExists(name) }
      try execute("UPDATE feed SET name = ?, title = ? WHERE name = ?", [name, title, write.name])
      return .renamed
    case .delete:
      guard stored != nil else { throw FeedError.unknownFeed(write.name) }
      try execute(Self.deleteFeed, [write.name])
      return .deleted
    }
  }

  private static let deleteFeed = "DELETE FROM feed WHERE name = ?"

  private func row(_ name: String) throws -> StoredFeed? {
    let statement = try database.cachedStatement(sql: "SELECT title FROM feed WHERE name = ?")
    return try Row.fetchOne(statement, arguments: [name]).map {
      StoredFeed(name: name, title: $0[0])
    }
  }

  private func execute(_ sql: String, _ arguments: StatementArguments) throws {
    try database.cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
