import Feed
import JSON
import Prefetch

/// A page of a feed, as a client receives it.
public struct FeedPage: Hashable, Sendable {
  /// The feed's name.
  @ByBytes public var feed: String
  /// The display name of the feed.
  public var title: String?
  /// The number of items of the feed.
  public var total: Int
  /// The index in the feed of the page's first item.
  public var offset: Int
  /// The number of the page's ranking; later rankings have higher numbers.
  public var ranking: Int
  /// The items, in the feed's order.
  public var items: [FeedItem]
  /// The cursor for `after`, for the items directly below; `nil` on the last page.
  public var next: String?
  /// The cursor for `before`, for the items directly above; `nil` on the first page.
  public var previous: String?
  /// The cursor for `before` that pull-to-refresh polls.
  public var newer: String
  /// The server's values for loading ahead.
  public var prefetch: Prefetch

  /// The server's values for loading ahead of a page.
  public struct Prefetch: Hashable, Sendable {
    /// The name of the network.
    public var network: String
    /// The name of the policy in force.
    public var policy: String
    /// The index of the item of the page at which to request the next page, when it becomes active; `nil`
    /// on the last page.
    public var nextPageAt: Int?
    /// The experiment on the policy, if one is running.
    public var experiment: ExperimentDraw?
  }
}

/// An item of a feed, as a client receives it.
public struct FeedItem: Hashable, Sendable {
  /// The post.
  public var post: Post
  /// The known properties of its files, in the order of `post.media`.
  public var media: [FeedMedia]
  /// The item's costs by the server's policy.
  public var cost: Cost
  /// The survival curve that the server learned; empty if there is none.
  public var survival: [WatchPoint]

  /// The costs of loading an item ahead.
  public struct Cost: Hashable, Sendable {
    /// The weight in the policy's units.
    public var weight: Int
    /// The bytes to load while the item is not active.
    public var minimumBytes: Int
    /// The bytes to load when the item is active.
    public var entireBytes: Int
    /// Whether some of the bytes are the policy's defaults, because the facts are unknown.
    public var isEstimated: Bool
  }

  /// The id, unique among the items of the feed.
  public var id: String { post.id }
}

/// The properties of a file in an item that its post does not have.
public struct FeedMedia: Hashable, Sendable {
  /// The id, unique among the files of the server.
  @ByBytes public var id: String
  /// The mark of the file's version; `nil` if it is unknown.
  @ByBytes public var version: String?
  /// The time at which its URL and those of its variants expire; `nil` if they do not.
  public var expiresAt: Timestamp?
  /// Whether the file has sound; `nil` if that is unknown.
  public var hasSound: Bool?
  /// The numbers of bytes that the file needs to start and to play on.
  public var timing: MediaTiming?
  /// Other files with the same content in fewer bytes.
  public var variants: [FeedVariant]
  /// Whether the server knows that the file is gone or broken: there is nothing to load.
  public var isUnavailable: Bool
}

/// A file with the same content as another one in fewer bytes.
public struct FeedVariant: Hashable, Sendable {
  /// The URL of the file.
  @ByBytes public var url: String
  /// The mark of the file's version; `nil` if it is unknown.
  @ByBytes public var version: String?
  /// The media type: `video/mp4`.
  @ByBytes public var mimeType: String?
  /// Width as displayed, in pixels.
  public var width: Int?
  /// Height as displayed, in pixels.
  public var height: Int?
  /// The size of the whole file.
  public var bytes: Int
  /// The numbers of bytes that the file needs to start and to play on, as far as the page has them.
  public var timing: MediaTiming?
}

extension FeedPage {
  /// Decodes a page. Ignores unknown members, because a newer server may send them. Known members must be
  /// present and valid.
  ///
  /// - Throws: `RecordError`, which names the field.
  public init(json: [UInt8]) throws(RecordError) {
    let document: JSONDocument
    do throws(JSONError) {
      document = try JSONDocument(json)
    } catch {
      throw RecordError(field: "", problem: "is not JSON: \(error)")
    }
    let page = try RecordFields(document.root, known: nil)
    let feed = try RecordFields(page.value("feed"), known: nil)
    let paging = try RecordFields(page.value("paging"), known: nil)
    self.init(
      feed: try feed.name("name", limit: .bytes(RecordLimits.feedNameBytes)),
      title: try feed.text("title", limit: .characters(RecordLimits.titleCharacters)),
      total: try feed.count("total"), offset: try paging.count("offset"),
      ranking: try feed.count("ranking"),
      items: try page.list("items", limit: Self.itemLimit, FeedItem.init),
      next: try paging.cursor("next"), previous: try paging.cursor("prev"),
      newer: try paging.name("newer", limit: .bytes(RecordLimits.urlBytes)),
      prefetch: try Prefetch(page.value("prefetch")))
  }

  /// The maximum number of items of a page, for any server.
  public static let itemLimit = 1_000
}

extension FeedPage.Prefetch {
  fileprivate init(_ value: JSONValue) throws(RecordError) {
    let fields = try RecordFields(value, known: nil)
    self.init(
      network: try fields.name("network", limit: .bytes(RecordLimits.urlBytes)),
      policy: try fields.name("policy", limit: .bytes(RecordLimits.urlBytes)),
      nextPageAt: fields.isNull("nextPageAt") ? nil : try fields.count("nextPageAt"),
      experiment: fields.isNull("experiment")
        ? nil : try ExperimentDraw(json: fields.value("experiment")))
  }
}

extension ExperimentDraw {
  /// Decodes `prefetch.experiment` of a page.
  ///
  /// - Throws: `RecordError`, which names the field.
  public init(json value: JSONValue) throws(RecordError) {
    let fields = try RecordFields(value, known: nil)
    self.init(
      id: try fields.count("id"), salt: try fields.name("salt", limit: .bytes(100)),
      shares: try fields.list("shares", limit: 10) { share throws(RecordError) in
        try share.checkedNumber()
      })
  }
}

extension FeedItem {
  fileprivate init(_ value: JSONValue) throws(RecordError) {
    let fields = try RecordFields(value, known: nil)
    let media = try fields.list("media", limit: RecordLimits.media, FeedMedia.read)
    let cost = try RecordFields(fields.value("prefetch"), known: nil)
    self.init(
      post: Post(
        id: try fields.name("id", limit: .bytes(RecordLimits.idBytes)),
        type: try fields.option("type"),
        title: try fields.text("title", limit: .characters(RecordLimits.titleCharacters)),
        text: try fields.text("text", limit: .bytes(RecordLimits.textBytes)),
        language: try fields.text("language", limit: .bytes(RecordLimits.languageBytes)),
        publishedAt: try fields.time("publishedAt"),
        visibleFrom: try fields.time("visibleFrom"),
        visibleUntil: try fields.time("visibleUntil"),
        author: try fields.author(known: nil),
        url: try fields.text("url", limit: .bytes(RecordLimits.servedURLBytes)),
        thumbnail: try fields.text("thumbnail", limit: .bytes(RecordLimits.servedURLBytes)),
        tags: try fields.list("tags", limit: RecordLimits.tags) { value throws(RecordError) in
          try value.checkedText(.characters(RecordLimits.tagCharacters))
        },
        counters: try fields.has("counters")
          ? DecodedRecord.counters(fields.value("counters")) : [],
        extra: try fields.extra("extra"),
        media: media.map(\.0)),
      media: media.map(\.1),
      cost: Cost(
        weight: try cost.count("weight"), minimumBytes: try cost.count("minimumBytes"),
        entireBytes: try cost.count("entireBytes"),
        isEstimated: try cost.boolean("estimated") ?? false),
      survival: try fields.survival())
  }
}

extension FeedMedia {
  fileprivate static func read(_ value: JSONValue) throws(RecordError) -> (Media, FeedMedia) {
    let fields = try RecordFields(value, known: nil)
    let bytes = try fields.number("bytes", in: 0...RecordLimits.fileBytes)
    let media = Media(
      kind: try fields.option("kind"),
      url: try fields.name("url", limit: .bytes(RecordLimits.servedURLBytes)),
      alt: try fields.text("alt", limit: .characters(RecordLimits.altCharacters)),
      poster: try fields.text("poster", limit: .bytes(RecordLimits.servedURLBytes)),
      mimeType: try fields.text("mimeType", limit: .bytes(RecordLimits.mediaTypeBytes)),
      codec: try fields.text("codec", limit: .bytes(RecordLimits.mediaTypeBytes)),
      width: try fields.number("width", in: 1...RecordLimits.pixels),
      height: try fields.number("height", in: 1...RecordLimits.pixels),
      durationMilliseconds: try fields.number("durationMs", in: 0...RecordLimits.number),
      bytes: bytes,
      placeholder: try fields.has("placeholder")
        ? MediaPlaceholder(json: fields.value("placeholder"), known: nil) : nil,
      extra: try fields.extra("extra"))
    let known = FeedMedia(
      id: try fields.name("id", limit: .bytes(RecordLimits.urlBytes)),
      version: try fields.text("version", limit: .bytes(RecordLimits.urlBytes)),
      expiresAt: try fields.time("expiresAt"), hasSound: try fields.boolean("hasSound"),
      timing: try fields.timing(fileBytes: bytes),
      variants: try fields.list("variants", limit: RecordLimits.media, FeedVariant.init),
      isUnavailable: try fields.boolean("unavailable") ?? false)
    return (media, known)
  }
}

extension FeedVariant {
  fileprivate init(_ value: JSONValue) throws(RecordError) {
    let fields = try RecordFields(value, known: nil)
    let bytes = try fields.number("bytes", in: 0...RecordLimits.fileBytes)
    guard let bytes else { throw fields.error("bytes", "is missing") }
    self.init(
      url: try fields.name("url", limit: .bytes(RecordLimits.servedURLBytes)),
      version: try fields.text("version", limit: .bytes(RecordLimits.urlBytes)),
      mimeType: try fields.text("mimeType", limit: .bytes(RecordLimits.mediaTypeBytes)),
      width: try fields.number("width", in: 1...RecordLimits.pixels),
      height: try fields.number("height", in: 1...RecordLimits.pixels), bytes: bytes,
      timing: try fields.timing(fileBytes: bytes))
  }
}

extension RecordFields {
  /// Decodes a required count.
  fileprivate func count(_ name: String) throws(RecordError) -> Int {
    guard let count = try number(name, in: 0...RecordLimits.number) else {
      throw error(name, "is missing")
    }
    return count
  }

  /// Decodes a cursor; `nil` if it is null or absent.
  fileprivate func cursor(_ name: String) throws(RecordError) -> String? {
    isNull(name) ? nil : try text(name, limit: .bytes(RecordLimits.urlBytes))
  }

  fileprivate func isNull(_ name: String) -> Bool {
    guard has(name), let value = try? value(name) else { return true }
    return value.kind == .null
  }

  /// Decodes the member `start` of a file of this many bytes.
  fileprivate func timing(fileBytes: Int?) throws(RecordError) -> MediaTiming? {
    guard has("start") else { return nil }
    guard let fileBytes else { throw error("bytes", "is missing beside start") }
    return try MediaTruth.timing(value("start"), fileBytes, known: nil)
  }
}
