import Catalog
import Feed
import Postgres

/// Reads that a standby answers in place of the primary.
extension PostgresStore {
  /// Returns the posts with these numbers if the standby has all of them as the catalog has them.
  func standbyPosts(_ numbers: [Int64]) -> FlatPosts? {
    standby?.read(
      { connection in
        let (position, rows) = try connection.read(
          PostRows.statements(numbers), after: ServerPosition.statement)
        return (try ServerPosition(position), try PostRows.posts(numbered: rows))
      },
      { [follower] posts, version in
        guard posts.count == numbers.count else {
          return version < follower.version ? .behind : .missing
        }
        return follower.isUnchanged(posts: numbers, since: version) ? .answered : .behind
      })
  }

  /// Returns the item with this id if the standby has it as the catalog has it.
  func standbyItem(withID id: String) -> StoredItem? {
    let read = standby?.read(
      { connection in
        let (position, rows) = try connection.read(
          Self.itemStatements(id), after: ServerPosition.statement)
        return (try ServerPosition(position), try Self.item(rows))
      },
      { [follower] found, version in
        guard let found else { return version < follower.version ? .behind : .missing }
        if version == follower.version { return .answered }
        // The post may be in any feed that changed.
        guard let changes = follower.changes(since: version), changes.feeds.isEmpty,
          !changes.posts.contains(found.number)
        else { return .behind }
        return .answered
      })
    return read??.item
  }
}

extension Standby {
  /// Returns a window of an order if the standby has the feed as the catalog has it.
  func window(
    _ needs: PageNeeds, for follower: CatalogFollower<PostgresCatalogSource>
  ) -> PageParts<PostgresCatalogReader.Mark>? {
    read(
      { connection in
        let position = try ServerPosition(connection.run([ServerPosition.statement])[0])
        let parts = try connection.transaction(.reading) {
          try needs.read(from: PostgresCatalogReader(connection: connection))
        }
        return (position, parts)
      },
      { _, version in
        follower.isUnchanged(feed: needs.feed, posts: [], since: version) ? .answered : .behind
      })
  }
}
