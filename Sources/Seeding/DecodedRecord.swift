import Feed

/// The JSON form of a `SeedRecord`.
struct DecodedRecord: Decodable {
  let record: SeedRecord
  /// Whether the record says in which feeds the post is.
  let namesFeeds: Bool

  private static let known: Set = [
    "id", "feeds", "type", "title", "text", "publishedAt", "author", "url", "thumbnail", "tags",
    "counters", "media", "feed",
  ]

  init(from decoder: any Decoder) throws {
    let fields = try Fields(decoder, known: Self.known)
    namesFeeds = fields.has("feeds")
    if fields.has("feed") {
      let feed: DecodedFeed = try Fields(decoder, known: ["feed"]).value("feed")
      record = .feed(name: feed.name, title: feed.title)
      return
    }
    let placements: [DecodedPlacement] = try fields.list("feeds", limit: RecordLimits.feeds)
    var names: Set<String> = []
    for placement in placements where !names.insert(placement.placement.feed).inserted {
      throw fields.error("feeds", "names the feed \"\(placement.placement.feed)\" twice")
    }
    let tags: [String] = try fields.list("tags", limit: RecordLimits.tags)
    for tag in tags { try fields.check(tag, "tags", limit: RecordLimits.tagBytes) }
    let media: [DecodedMedia] = try fields.list("media", limit: RecordLimits.media)
    let author: DecodedAuthor? =
      fields.has("author")
      ? try fields.value("author", as: DecodedAuthor.self) : nil
    record = .post(
      Post(
        id: try Self.id(fields, decoder),
        type: try fields.option("type"),
        title: try fields.text("title", limit: RecordLimits.titleBytes),
        text: try fields.text("text", limit: RecordLimits.textBytes),
        publishedAt: try fields.time("publishedAt"),
        author: author?.author,
        url: try fields.text("url", limit: RecordLimits.urlBytes),
        thumbnail: try fields.text("thumbnail", limit: RecordLimits.urlBytes),
        tags: tags.filter { !$0.isEmpty },
        counters: try Self.counters(fields),
        media: media.map(\.media)),
      placements: placements.map(\.placement))
  }

  private static func id(_ fields: Fields, _ decoder: any Decoder) throws -> String {
    let known = decoder.userInfo[.itemID] as? String
    guard let known, !fields.has("id") else {
      return try fields.name("id", limit: RecordLimits.idBytes)
    }
    try fields.checkName(known, "id", limit: RecordLimits.idBytes)
    return known
  }

  private static func counters(_ fields: Fields) throws -> [Counter] {
    guard fields.has("counters") else { return [] }
    return try counters(try fields.value("counters"), fields)
  }

  fileprivate static func counters(_ counters: [String: Int], _ fields: Fields) throws -> [Counter]
  {
    guard counters.count <= RecordLimits.counters else {
      throw fields.error(
        "counters", "has \(counters.count) elements, more than \(RecordLimits.counters)")
    }
    return try counters.map { name, value in
      try fields.checkName(name, "counters", limit: RecordLimits.counterNameBytes)
      // Below zero, too: origins that blur their counters do publish such.
      guard (-RecordLimits.number...RecordLimits.number).contains(value) else {
        throw fields.error(
          "counters", "\(name) \(value) is not in ±\(RecordLimits.number)")
      }
      return Counter(name, value)
    }
  }
}

/// Counters on their own.
struct DecodedCounters: Decodable {
  let counters: [Counter]

  init(from decoder: any Decoder) throws {
    let names = try decoder.container(keyedBy: FieldName.self).allKeys.map(\.stringValue)
    let fields = try Fields(decoder, known: Set(names))
    let pairs = try names.map { name -> (String, Int) in (name, try fields.value(name)) }
    counters = try DecodedRecord.counters(
      Dictionary(pairs, uniquingKeysWith: { first, _ in first }), fields)
  }
}

private struct DecodedFeed: Decodable {
  let name: String
  let title: String?

  init(from decoder: any Decoder) throws {
    let fields = try Fields(decoder, known: ["name", "title"])
    name = try fields.name("name", limit: RecordLimits.feedNameBytes)
    title = try fields.text("title", limit: RecordLimits.titleBytes)
  }
}

private struct DecodedPlacement: Decodable {
  let placement: Placement

  init(from decoder: any Decoder) throws {
    let fields = try Fields(decoder, known: ["name", "rank"])
    placement = Placement(
      feed: try fields.name("name", limit: RecordLimits.feedNameBytes),
      rank: try fields.number("rank", in: SortKey.rankRange))
  }
}

private struct DecodedAuthor: Decodable {
  let author: Author

  init(from decoder: any Decoder) throws {
    let fields = try Fields(decoder, known: ["id", "name"])
    author = Author(
      id: try fields.name("id", limit: RecordLimits.idBytes),
      name: try fields.text("name", limit: RecordLimits.titleBytes))
  }
}

private struct DecodedMedia: Decodable {
  let media: Media

  private static let known: Set = [
    "kind", "url", "mimeType", "codec", "width", "height", "durationMs", "bytes",
  ]

  init(from decoder: any Decoder) throws {
    let fields = try Fields(decoder, known: Self.known)
    guard let url = try fields.text("url", limit: RecordLimits.urlBytes) else {
      throw fields.error("url", fields.has("url") ? "is empty" : "is missing")
    }
    media = Media(
      kind: try fields.option("kind"),
      url: url,
      mimeType: try fields.text("mimeType", limit: RecordLimits.titleBytes),
      codec: try fields.text("codec", limit: RecordLimits.titleBytes),
      width: try fields.number("width", in: 1...RecordLimits.pixels),
      height: try fields.number("height", in: 1...RecordLimits.pixels),
      durationMilliseconds: try fields.number("durationMs", in: 0...RecordLimits.number),
      bytes: try fields.number("bytes", in: 0...RecordLimits.fileBytes))
  }
}
