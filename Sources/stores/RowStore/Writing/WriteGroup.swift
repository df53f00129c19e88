import Catalog
import Feed

/// Runs single writes within one transaction: each of them is made completely or not at all, and one that
/// fails does not affect the others.
package struct WriteGroup<Database: RowDatabase> {
  private let database: Database
  private let options: StoreOptions

  package init(database: Database, options: StoreOptions) {
    self.database = database
    self.options = options
  }

  /// - Throws: errors that undo the whole group.
  package func run(_ writes: [WaitingWrite]) throws -> [WaitingWrite.Telling] {
    let tellings = try parts(writes).flatMap(run(part:))
    try database.finish()
    return tellings
  }

  /// Splits the writes into parts. The meaning of a relative place depends on the writes before it, so a
  /// write with one is a part of its own.
  private func parts(_ writes: [WaitingWrite]) -> [[WaitingWrite]] {
    var parts: [[WaitingWrite]] = []
    var isOpen = false
    for write in writes {
      let isRelative = if case .item(let write, _) = write { write.isRelative } else { false }
      if isOpen, !isRelative {
        parts[parts.count - 1].append(write)
      } else {
        parts.append([write])
      }
      isOpen = !isRelative
    }
    return parts
  }

  private func run(part writes: [WaitingWrite]) throws -> [WaitingWrite.Telling] {
    var rows = try database.read(RowsWanted(writes))
    var movedFeeds: Set<Int64> = []
    let keys = IdempotencyKeys(options: options, now: options.now())
    var places = RelativePlaces()
    if case .item(let write, _)? = writes.first, write.isRelative {
      places = try RelativePlaces(of: write, in: rows, database)
    }
    let tellings = try writes.map { waiting -> WaitingWrite.Telling in
      switch waiting {
      case .item(let write, let completion):
        let result = try result(&rows) { rows in
          try write.make(on: &rows, keys, places, movedFeeds: &movedFeeds)
        }
        return { completion(result) }
      case .feed(let write, let completion):
        let result = try result(&rows) { rows in try write.make(on: &rows) }
        return { completion(result) }
      }
    }
    if !movedFeeds.isEmpty {
      try Ranking(database: database).publish(feeds: movedFeeds, RankingRetention(options))
    }
    return tellings
  }

  private func result<Outcome>(
    _ rows: inout KnownRows, _ body: (inout KnownRows) throws -> Outcome
  ) throws -> Result<Outcome, any Error> {
    do {
      return .success(
        try rows.attempt { rows in
          let outcome = try body(&rows)
          let changes = rows.takeChanges()
          if !changes.isEmpty {
            try database.savepoint { try database.apply(changes, run: nil) }
          }
          return outcome
        })
    } catch {
      guard let told = database.told(error) else { throw error }
      return .failure(told)
    }
  }
}
