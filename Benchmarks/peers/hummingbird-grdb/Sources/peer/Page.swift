import Foundation
import GRDB

/// A page as the answer has it.
struct Page: Encodable {
  var items: [Item]
}

struct Author: Encodable {
  var id: String
  var name: String?
}

struct Media: Encodable {
  var id: String
  var kind: String
  var url: String
  var mimeType: String?
  var codec: String?
  var width: Int?
  var height: Int?
  var durationMs: Int?
  var bytes: Int?

  init(_ row: Row, id: String) {
    self.id = id
    kind = row[1]
    url = row[2]
    mimeType = row[3]
    codec = row[4]
    width = row[5]
    height = row[6]
    durationMs = row[7]
    bytes = row[8]
  }
}

struct Item: Encodable {
  var id: String
  var type: String
  var title: String?
  var text: String?
  var publishedAt: Date?
  var author: Author?
  var url: String?
  var thumbnail: String?
  var tags: [String]?
  var counters: [String: Int]?
  var media: [Media]?

  /// The columns as posts.sql selects them.
  init(_ row: Row, decoder: JSONDecoder) throws {
    id = row[1]
    type = row[2]
    title = row[3]
    text = row[4]
    publishedAt = (row[5] as Int?).map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
    author = (row[6] as String?).map { Author(id: $0, name: row[7]) }
    url = row[8]
    thumbnail = row[9]
    tags = try (row[10] as Data?).map { try decoder.decode([String].self, from: $0) }
    counters = try (row[11] as Data?).map { try decoder.decode([String: Int].self, from: $0) }
  }
}

extension Page {
  /// The first `limit` items of the feed.
  static func read(_ database: Database, sql: String, feed: String, limit: Int) throws -> Page {
    let decoder = JSONDecoder()
    var items: [Item] = []
    var places: [Int64: Int] = [:]
    let statement = try database.cachedStatement(sql: sql)
    let rows = try Row.fetchCursor(statement, arguments: ["feed": feed, "limit": limit])
    while let row = try rows.next() {
      places[row[0]] = items.count
      items.append(try Item(row, decoder: decoder))
    }
    guard !items.isEmpty else { return Page(items: []) }
    let marks = "?" + String(repeating: ",?", count: items.count - 1)
    let mediaStatement = try database.cachedStatement(
      sql: """
        SELECT post_id, kind, url, mime_type, codec, width, height, duration_ms, bytes
        FROM media WHERE post_id IN (\(marks)) ORDER BY post_id, ordinal
        """)
    let mediaRows = try Row.fetchCursor(
      mediaStatement, arguments: StatementArguments(places.keys))
    while let row = try mediaRows.next() {
      guard let place = places[row[0]] else { continue }
      let media = items[place].media ?? []
      items[place].media = media + [Media(row, id: "\(items[place].id).\(media.count)")]
    }
    return Page(items: items)
  }
}
