import Catalog
import Feed

/// The meaning of relative places in the database as it is: ranks, and new ranks of other items that make
/// room. Pure except for its reads.
struct RelativePlaces {
  /// The rank of an item in a feed.
  private struct Room {
    let rank: Int
    /// Entries of other items, each with its new rank.
    var moves: [(entry: StoredEntry, rank: Int)] = []
  }

  /// The ranks by feed; an error if there is no such place.
  private var rooms: [ByteText: Result<Room, FeedError>] = [:]

  /// Creates the places of a write without relative places.
  init() {}

  /// Reads the neighbors of the write's relative places.
  ///
  /// - Throws: errors of the database.
  init(of write: ItemWrite, in rows: KnownRows, _ database: some RowDatabase) throws {
    guard case .put(_, let placements?, _) = write.change else { return }
    for placement in placements {
      guard let relative = placement.relative else { continue }
      let look = Look(
        database: database, feed: try rows.feed(named: placement.feed), name: placement.feed,
        id: write.id,
        own: try rows.post(withID: write.id)?.entries ?? [])
      do {
        rooms[ByteText(placement.feed)] = .success(try look.room(relative))
      } catch let error as FeedError {
        rooms[ByteText(placement.feed)] = .failure(error)
      }
    }
  }

  /// Returns the placement with a rank. Other entries that are in the way are moved, in the next ranking.
  ///
  /// - Throws: `FeedError` if there is no such place.
  func ranked(
    _ placement: Placement, _ rows: inout KnownRows, movedFeeds: inout Set<Int64>
  ) throws -> Placement {
    guard placement.relative != nil, let room = try rooms[ByteText(placement.feed)]?.get() else {
      return placement
    }
    if !room.moves.isEmpty, let feed = try rows.feed(named: placement.feed) {
      movedFeeds.insert(feed.id)
      for (entry, rank) in room.moves { rows.move(entry, to: rank, since: feed.ranking + 1) }
    }
    return Placement(feed: placement.feed, rank: room.rank)
  }

  /// Looks at the entries beside an item's place in a feed.
  private struct Look<Database: RowDatabase> {
    let database: Database
    /// The feed; nil for one that the write makes.
    let feed: FeedState?
    let name: String
    /// The id and the entries of the item.
    let id: String
    let own: [StoredEntry]

    func room(_ relative: RelativePlace) throws -> Room {
      guard let (upper, lower) = try neighbors(relative) else {
        return Room(rank: RankRoom.rank(below: nil, above: nil)!)
      }
      if let here = own.first(where: { $0.feedID == feed?.id && $0.until == nil }),
        let rank = here.rank, upper.map({ $0.position < here.position }) ?? true,
        lower.map({ here.position < $0.position }) ?? true
      {
        return Room(rank: rank)
      }
      if let rank = RankRoom.rank(below: upper?.rank, above: lower?.rank) {
        return Room(rank: rank)
      }
      return try shifted(below: upper) ?? spread(below: upper)
    }

    /// Returns the entries with ranks directly above and below the place; nil if the feed is new.
    private func neighbors(
      _ relative: RelativePlace
    ) throws -> (upper: StoredEntry?, lower: StoredEntry?)? {
      let neighborID: String
      switch relative {
      case .top, .bottom:
        guard let feed else { return nil }
        return relative == .top
          ? (nil, try nearest(below: .aboveAll, in: feed))
          : (try nearest(above: .belowRanks, in: feed), nil)
      case .after(let id), .before(let id): neighborID = id.text
      }
      guard let feed, !neighborID.isSame(as: id),
        let neighbor = try database.entry(ofPost: neighborID, inFeed: feed.id)
      else { throw FeedError.noPlaceBeside(item: neighborID, feed: name) }
      guard neighbor.rank != nil else {
        throw FeedError.neighborWithoutRank(item: neighborID, feed: name)
      }
      if case .after = relative {
        return (neighbor, try nearest(below: neighbor.position, in: feed))
      }
      return (try nearest(above: neighbor.position, in: feed), neighbor)
    }

    /// Skips the item itself, which is about to leave its place.
    private func nearest(below position: Position, in feed: FeedState) throws -> StoredEntry? {
      try others(below: position, in: feed, limit: 2).first
    }

    private func nearest(above position: Position, in feed: FeedState) throws -> StoredEntry? {
      try database.rankedEntries(ofFeed: feed.id, .above(position), limit: 2)
        .first { !$0.position.id.isSame(as: id) }
    }

    private func others(
      below position: Position, in feed: FeedState, limit: Int
    ) throws -> [StoredEntry] {
      try database.rankedEntries(ofFeed: feed.id, .below(position), limit: limit)
        .filter { !$0.position.id.isSame(as: id) }
    }

    /// Moves a few of the entries below out of the way.
    private func shifted(below upper: StoredEntry?) throws -> Room? {
      guard let feed else { return nil }
      // One more than may move, plus the item itself.
      let lower = try others(
        below: upper?.position ?? .aboveAll, in: feed, limit: RankRoom.shiftLimit + 2)
      guard let (rank, shifted) = RankRoom.shift(lower.compactMap(\.rank), below: upper?.rank)
      else { return nil }
      return Room(rank: rank, moves: Array(zip(lower, shifted)))
    }

    /// Gives all other entries ranks with room between them, in the same order. A feed that came with ranks
    /// 1, 2, 3, … needs that once.
    private func spread(below upper: StoredEntry?) throws -> Room {
      guard let feed else { return Room(rank: RankRoom.spread(0)) }
      let all = try others(below: .aboveAll, in: feed, limit: .max)
      let place = upper.map { upper in all.prefix { $0.position <= upper.position }.count } ?? 0
      let moves = all.enumerated().map { offset, entry in
        (entry: entry, rank: RankRoom.spread(offset < place ? offset : offset + 1))
      }
      return Room(
        rank: RankRoom.spread(place), moves: moves.filter { $0.entry.rank != $0.rank })
    }
  }
}

/// The side of a position on which entries are wanted, the nearest first.
package enum RankedSide: Sendable {
  case below(Position), above(Position)
}

extension Position {
  /// Above every entry.
  fileprivate static let aboveAll = Position(key: SortKey(rawValue: .min), id: "")
  /// Below every entry that has a rank.
  fileprivate static let belowRanks = Position(
    key: SortKey(rawValue: Int64(SortKey.rankRange.upperBound) + 1), id: "")
}
