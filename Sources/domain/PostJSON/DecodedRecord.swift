import Feed
import JSON

/// A `SeedRecord` decoded from JSON.
struct DecodedRecord {
  let record: SeedRecord
  /// Whether the record has the member `feeds`.
  let namesFeeds: Bool

  private static let known = [
    "author", "counters", "extra", "feed", "feeds", "id", "language", "media", "publishedAt",
    "tags", "text", "thumbnail", "title", "type", "url", "visibleFrom", "visibleUntil",
  ]

  /// - Parameters:
  ///   - itemID: The id of a post whose record may omit it.
  ///   - takesWords: Whether the post's places may be relative.
  init(
    _ value: JSONValue, itemID: String? = nil, takesWords: Bool = false
  ) throws(RecordError) {
    let fields = try RecordFields(value, known: Self.known)
    namesFeeds = fields.has("feeds")
    if fields.has("feed") {
      if let name = try fields.value("feed").text?.excerpt(characters: JSONPath.shownCharacters) {
        throw fields.error(
          "feed",
          "is a text; write \"feeds\":[{\"name\":\"\(name)\"}] to put a post into the feed, or "
            + "{\"feed\":{\"name\":\"\(name)\"}} for a record of the feed itself")
      }
      record = try Self.feed(RecordFields(value, known: ["feed"]).value("feed"))
      return
    }
    let placements = try fields.list("feeds", limit: RecordLimits.feeds, Self.placement)
    try Self.check(placements, fields)
    if !takesWords, let index = placements.firstIndex(where: { $0.relative != nil }) {
      throw fields.error(
        "feeds",
        "has a relative place in \"\(placements[index].feed)\", which only single writes of an "
          + "item support: use a rank")
    }
    let (visibleFrom, visibleUntil) = (
      try fields.time("visibleFrom"), try fields.time("visibleUntil")
    )
    if let visibleFrom, let visibleUntil, visibleUntil <= visibleFrom {
      throw fields.error(
        "visibleUntil", "is not later than visibleFrom: the item would never be visible")
    }
    record = .post(
      Post(
        id: try Self.id(fields, itemID),
        type: try fields.option("type"),
        title: try fields.text("title", limit: .characters(RecordLimits.titleCharacters)),
        text: try fields.text("text", limit: .bytes(RecordLimits.textBytes)),
        language: try fields.language("language"),
        publishedAt: try fields.time("publishedAt"),
        visibleFrom: visibleFrom,
        visibleUntil: visibleUntil,
        author: try fields.author(known: Self.knownOfAuthor),
        url: try fields.url("url"),
        thumbnail: try fields.url("thumbnail"),
        tags: try fields.list("tags", limit: RecordLimits.tags, Self.tag).filter { !$0.isEmpty },
        counters: try fields.has("counters") ? Self.counters(fields.value("counters")) : [],
        extra: try fields.extra("extra"),
        media: try fields.list("media", limit: RecordLimits.media, Self.media)),
      placements: placements)
  }

  private static func id(_ fields: RecordFields, _ itemID: String?) throws(RecordError) -> String {
    guard let itemID, !fields.has("id") else {
      return try fields.segmentName("id", limit: .bytes(RecordLimits.idBytes))
    }
    if let problem = itemID.problem(.bytes(RecordLimits.idBytes)) ?? itemID.problemAsName
      ?? itemID.problemAsSegment
    {
      throw fields.error("id", problem)
    }
    return itemID
  }

  private static func check(_ placements: [Placement], _ fields: RecordFields) throws(RecordError) {
    var names: Set<ByteText> = []
    for placement in placements where !names.insert(ByteText(placement.feed)).inserted {
      throw fields.error("feeds", "names the feed \"\(placement.feed)\" twice")
    }
  }

  /// Decodes counters, of a record or standalone.
  static func counters(_ value: JSONValue) throws(RecordError) -> [Counter] {
    let members = try value.checked(as: .object).members
    let count = members.reduce(0) { count, _ in count + 1 }
    guard count <= RecordLimits.counters else {
      throw value.error("has \(count) elements, more than \(RecordLimits.counters)")
    }
    var counters: [Counter] = []
    for member in members {
      let name = member.name
      if let problem = name.problem(.characters(RecordLimits.counterNameCharacters)) {
        throw member.value.error(problem)
      }
      if name.isEmpty { throw value.error("has an empty name") }
      if let problem = name.problemAsName { throw member.value.error(problem) }
      let count = try member.value.checkedNumber()
      // Negative counts are allowed: origins that add noise to counters publish them.
      guard (-RecordLimits.number...RecordLimits.number).contains(count) else {
        throw member.value.error("\(count) is not in ±\(RecordLimits.number)")
      }
      counters.append(Counter(name, count))
    }
    return counters
  }

  private static func tag(_ value: JSONValue) throws(RecordError) -> String {
    try value.checkedText(.characters(RecordLimits.tagCharacters))
  }

  private static func feed(_ value: JSONValue) throws(RecordError) -> SeedRecord {
    let fields = try RecordFields(value, known: ["name", "title"])
    return .feed(
      name: try fields.segmentName("name", limit: .bytes(RecordLimits.feedNameBytes)),
      title: try fields.text("title", limit: .characters(RecordLimits.titleCharacters)))
  }

  private static func placement(_ value: JSONValue) throws(RecordError) -> Placement {
    if let name = value.text?.excerpt(characters: JSONPath.shownCharacters) {
      throw value.error(
        "is a text; name the feed in an object: \"feeds\":[{\"name\":\"\(name)\"}]")
    }
    let fields = try RecordFields(value, known: ["after", "before", "name", "rank"])
    let feed = try fields.segmentName("name", limit: .bytes(RecordLimits.feedNameBytes))
    let said = ["rank", "after", "before"].filter(fields.has)
    if said.count > 1 {
      throw fields.error(said[1], "cannot be combined with \(said[0])")
    }
    switch said.first {
    case "after": return Placement(feed: feed, .after(try neighbor("after", fields)))
    case "before": return Placement(feed: feed, .before(try neighbor("before", fields)))
    case "rank":
      guard let word = try fields.value("rank").text else { break }
      switch word {
      case "top": return Placement(feed: feed, .top)
      case "bottom": return Placement(feed: feed, .bottom)
      default:
        throw fields.error(
          "rank",
          "\"\(word.excerpt(characters: JSONPath.shownCharacters))\" is not a number, top or bottom"
        )
      }
    default: break
    }
    return Placement(feed: feed, rank: try fields.number("rank", in: SortKey.rankRange))
  }

  /// Returns the id of the neighbor in a relative place.
  private static func neighbor(
    _ name: String, _ fields: RecordFields
  ) throws(RecordError) -> ByteText {
    ByteText(try fields.segmentName(name, limit: .bytes(RecordLimits.idBytes)))
  }

  private static let knownOfAuthor = ["avatar", "extra", "id", "name"]

  private static let knownOfMedia = [
    "alt", "bytes", "codec", "durationMs", "extra", "height", "kind", "mimeType", "placeholder",
    "poster", "url", "width",
  ]

  private static func media(_ value: JSONValue) throws(RecordError) -> Media {
    let fields = try RecordFields(value, known: knownOfMedia)
    guard let url = try fields.url("url") else {
      throw fields.error("url", fields.has("url") ? "is empty" : "is missing")
    }
    return Media(
      kind: try fields.option("kind"),
      url: url,
      alt: try fields.text("alt", limit: .characters(RecordLimits.altCharacters)),
      poster: try fields.url("poster"),
      mimeType: try fields.text("mimeType", limit: .bytes(RecordLimits.mediaTypeBytes)),
      codec: try fields.text("codec", limit: .bytes(RecordLimits.mediaTypeBytes)),
      width: try fields.number("width", in: 1...RecordLimits.pixels),
      height: try fields.number("height", in: 1...RecordLimits.pixels),
      durationMilliseconds: try fields.number("durationMs", in: 0...RecordLimits.number),
      bytes: try fields.number("bytes", in: 0...RecordLimits.fileBytes),
      placeholder: try fields.has("placeholder")
        ? MediaPlaceholder(json: fields.value("placeholder")) : nil,
      extra: try fields.extra("extra"))
  }
}

extension RecordFields {
  /// Decodes the member `author`; an empty object is equivalent to an absent one.
  ///
  /// - Parameter known: The fields that it may have; `nil` to ignore others.
  func author(known: [String]?) throws(RecordError) -> Author? {
    guard has("author") else { return nil }
    let fields = try RecordFields(value("author"), known: known)
    let author = Author(
      id: try fields.has("id") ? fields.name("id", limit: .bytes(RecordLimits.idBytes)) : nil,
      name: try fields.text("name", limit: .characters(RecordLimits.titleCharacters)),
      // Of a URL from a server only the length is checked.
      avatar: try known == nil
        ? fields.text("avatar", limit: .bytes(RecordLimits.servedURLBytes)) : fields.url("avatar"),
      extra: try fields.extra("extra"))
    return author == Author() ? nil : author
  }
}
