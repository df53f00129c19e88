import Feed
import JSON

extension SeedRecord {
  /// The canonical JSON of the record, which `RecordDecoder` reads back: fields in the order of the
  /// documentation, feeds and counters in the order of their names, unknown fields left out.
  public var json: [UInt8] {
    var writer = JSONWriter(capacity: 512)
    switch self {
    case .feed(let name, let title):
      writer.object { writer in
        writer.key("feed")
        writer.object { writer in
          writer.member("name", name)
          writer.member("title", title)
        }
      }
    case .post(let post, let placements):
      writer.object { writer in
        writer.member("id", post.id)
        if !placements.isEmpty { writer.feeds(placements) }
        writer.member("type", post.type.rawValue)
        writer.details(of: post)
      }
    }
    return writer.bytes
  }

}

extension JSONWriter {
  /// The member `feeds` of a post, in the order of the feeds' names.
  public mutating func feeds(_ placements: [Placement]) {
    key("feeds")
    array { writer in
      let sorted = placements.sorted { $0.feed.utf8.lexicographicallyPrecedes($1.feed.utf8) }
      for placement in sorted {
        writer.object { writer in
          writer.member("name", placement.feed)
          writer.member("rank", placement.rank)
        }
      }
    }
  }

  /// The members of a post from its title to its media: the same in an exported record and, but for
  /// what the server adds to the media, in a page.
  ///
  /// - Parameter media: writes further members of the `index`-th media object, before its `kind`.
  public mutating func details(
    of post: Post, media: (inout JSONWriter, Int) -> Void = { _, _ in }
  ) {
    member("title", post.title)
    member("text", post.text)
    member("publishedAt", post.publishedAt?.rfc3339)
    if let author = post.author {
      key("author")
      object { writer in
        writer.member("id", author.id)
        writer.member("name", author.name)
      }
    }
    member("url", post.url)
    member("thumbnail", post.thumbnail)
    if !post.tags.isEmpty {
      key("tags")
      array { writer in
        for tag in post.tags { writer.string(tag) }
      }
    }
    if !post.counters.isEmpty {
      key("counters")
      object { writer in
        for counter in post.counters {
          writer.key(counter.name)
          writer.integer(counter.value)
        }
      }
    }
    if !post.media.isEmpty {
      key("media")
      array { writer in
        for (index, file) in post.media.enumerated() {
          writer.object { writer in
            media(&writer, index)
            writer.members(of: file)
          }
        }
      }
    }
  }

  private mutating func members(of file: Media) {
    member("kind", file.kind.rawValue)
    member("url", file.url)
    member("mimeType", file.mimeType)
    member("codec", file.codec)
    member("width", file.width)
    member("height", file.height)
    member("durationMs", file.durationMilliseconds)
    member("bytes", file.bytes)
  }
}
