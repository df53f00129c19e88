import Feed
import JSON

extension SeedRecord {
  /// The canonical JSON of the record, which `RecordDecoder` reads: fields in the order of the
  /// documentation, feeds and counters in the order of their names, unknown fields omitted.
  public var json: [UInt8] {
    var writer = JSONWriter(capacity: 512)
    switch self {
    case .feed(let name, let title):
      writer.object { writer in
        writer.object("feed") { writer in
          writer.member("name", name)
          writer.member("title", title)
        }
      }
    case .post(let post, let placements):
      writer.object { writer in
        writer.member("id", post.id)
        if !placements.isEmpty { writer.feeds(placements) }
        writer.member("type", post.type.rawValue)
        writer.details(of: FlatPosts(post), at: 0)
      }
    }
    return writer.bytes
  }
}

extension JSONWriter {
  /// Writes the member `feeds` of a post, in the order of the feeds' names.
  mutating func feeds(_ placements: [Placement]) {
    array("feeds") { writer in
      let sorted = placements.sorted { $0.feed.utf8.lexicographicallyPrecedes($1.feed.utf8) }
      for placement in sorted {
        writer.object { writer in
          writer.member("name", placement.feed)
          writer.member("rank", placement.rank)
        }
      }
    }
  }
}
