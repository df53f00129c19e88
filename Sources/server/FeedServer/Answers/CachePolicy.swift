import Catalog
import Feed
import HTTP

/// The cache lifetimes of answers (RFC 9111, RFC 5861).
struct CachePolicy: Sendable {
  /// A `Cache-Control` value that many answers share.
  final class Directive: Sendable {
    /// The value; `nil` for `no-store`.
    let value: String?
    /// `Cache-Control`, with the fields of every answer that pages of any origin may read.
    let fields: Fields
    /// `fields` with `Vary`, by the raw value of `VaryingFields`.
    private let varying: [Fields]
    /// For pages: the freshness lifetime and the stale-while-revalidate time in seconds, and the scheduled
    /// change at which both end.
    private let lasting: (maxAge: Int, stale: Int, until: NextMoment)?
    /// The field with the keys for purges from caches in front; `nil` if answers have no keys.
    let keyField: CacheKeyField?

    static let none = Directive(nil)

    init(
      _ value: String?, keyField: CacheKeyField? = nil,
      lasting: (maxAge: Int, stale: Int, until: NextMoment)? = nil
    ) {
      self.value = value
      self.lasting = lasting
      self.keyField = keyField
      var fields: Fields = ["Cache-Control": value ?? "no-store"]
      fields.appendCORS()
      self.fields = fields
      varying = (0...VaryingFields.all.rawValue).map { raw in
        var fields = fields
        fields.append("Vary", VaryingFields(rawValue: raw).value)
        return fields
      }
    }

    /// The fields with `Vary` for an answer that depends on these request fields.
    func fields(varyingBy names: VaryingFields) -> Fields {
      guard let lasting, let seconds = secondsLeft else { return varying[Int(names.rawValue)] }
      let maxAge = min(lasting.maxAge, seconds)
      let stale = min(lasting.stale, seconds - maxAge)
      var fields: Fields = ["Cache-Control": CachePolicy.value(maxAge, stale)]
      fields.appendCORS()
      fields.append("Vary", names.value)
      return fields
    }

    /// The seconds for which caches may keep an answer created now; `nil` unless a scheduled change shortens
    /// the usual time.
    var secondsLeft: Int? {
      guard let lasting else { return nil }
      return lasting.until.secondsLeft(within: lasting.maxAge + lasting.stale)
    }
  }

  let pages: Directive
  let documents: Directive
  /// For files of one program version that belong together: clients revalidate them each time, mostly with a
  /// 304.
  let files = Directive("no-cache")

  /// - Parameter moment: the time of the next scheduled change of pages.
  init(
    maxAgeSeconds: Int, staleWhileRevalidateSeconds: Int, keyField: CacheKeyField? = nil,
    until moment: NextMoment
  ) {
    pages = Directive(
      Self.value(maxAgeSeconds, staleWhileRevalidateSeconds), keyField: keyField,
      lasting: (maxAgeSeconds, staleWhileRevalidateSeconds, moment))
    documents = Directive(Self.value(3600, 86_400))
  }

  private static func value(_ maxAge: Int, _ staleWhileRevalidate: Int) -> String {
    "max-age=\(maxAge), stale-while-revalidate=\(staleWhileRevalidate)"
  }
}

/// The request fields that an answer depends on, in addition to `Accept-Encoding`.
struct VaryingFields: OptionSet, Sendable {
  let rawValue: UInt8

  /// The fields that describe the client's network.
  static let network = VaryingFields(rawValue: 1)
  /// Whether the user saves data.
  static let savesData = VaryingFields(rawValue: 2)

  /// The media types that the client accepts.
  static let types = VaryingFields(rawValue: 4)

  static let all: VaryingFields = [.network, .savesData, .types]

  /// The value of `Vary` (RFC 9110 section 12.5.5).
  var value: String {
    switch self {
    case [.network, .savesData]: "Accept-Encoding, ECT, Downlink, RTT, Save-Data"
    case .network: "Accept-Encoding, ECT, Downlink, RTT"
    case .types: "Accept-Encoding, Accept"
    case .savesData: "Accept-Encoding, Save-Data"
    default: "Accept-Encoding"
    }
  }
}

// MARK: Keys

/// The keys by which caches in front purge answers. They are visible ASCII without white space and commas,
/// whatever characters a feed's name has, so that either can separate them in a list.
enum CacheKey {
  /// The key of all answers made from the database.
  static let all = "all"
  /// The key of the list of feeds.
  static let feeds = "feeds"
  /// The key of items without the keys of all their feeds: purged with every change.
  static let loose = "loose"

  /// The key of all answers that show a feed or its items: the name, encoded as in a query, at most 305
  /// bytes.
  static func feed(_ name: String) -> String {
    feedPrefix + PercentEncoding.encode(name, for: .queryValue)
  }

  fileprivate static let feedPrefix = "feed/"

  /// The key of one item's own documents. Writes purge by feed; operators may purge by this key.
  static func item(_ id: String) -> String {
    "item/" + PercentEncoding.encode(id, for: .queryValue)
  }

  /// The maximum bytes of an item's keys together: caches take header sections of a few thousand bytes.
  static let itemBytes = 2_048

  /// The keys of an item's documents: `all`, the item's, and those of its feeds; `loose` in place of those if
  /// the item is in no feed or all keys take more than `itemBytes`.
  static func ofItem(_ item: StoredItem) -> [String] {
    var keys = [all, self.item(item.post.id)]
    let feeds = item.placements.map { feed($0.feed) }
    let bytes = (keys + feeds).reduce(0) { $0 + $1.utf8.count + 1 }
    if feeds.isEmpty || bytes > itemBytes { keys.append(loose) } else { keys += feeds }
    return keys
  }
}

/// The keys of one answer.
enum CacheKeys: Sendable {
  case none
  /// The keys of a page, or of another document about one feed: `all` and the feed's.
  case page(feed: String)
  case these([String])

  var areAny: Bool { if case .none = self { false } else { true } }
}

extension CacheKeyField {
  /// Appends the keys as one value.
  func write(_ keys: CacheKeys, to value: inout [UInt8]) {
    switch keys {
    case .none: return
    case .page(let feed):
      value.append(text: CacheKey.all)
      value.append(text: separator)
      value.append(text: CacheKey.feedPrefix)
      PercentEncoding.append(feed, for: .queryValue, to: &value)
    case .these(let keys): value.append(text: self.value(keys))
    }
  }
}

/// The header field that lists the keys: of an answer, and in a purge those to purge.
package struct CacheKeyField: Equatable, Sendable {
  /// The name of the field.
  package let name: String
  /// The separator of two keys: a comma in `Cache-Tag` and `Edge-Cache-Tag`, a space in all other fields.
  let separator: String

  /// The field that Fastly and docker/varnish.vcl read.
  package static let surrogateKey = CacheKeyField("Surrogate-Key", separator: " ")

  /// The allowed lengths of names.
  private static let nameBytes = 1...64
  /// Fields that answers have with another meaning.
  private static let taken = [
    "accept-ranges", "access-control-allow-origin", "access-control-expose-headers", "age", "allow",
    "cache-control", "connection", "content-encoding", "content-length", "content-location",
    "content-range", "content-security-policy", "content-type", "cross-origin-opener-policy",
    "date", "etag", "expires", "host", "last-modified", "link", "location", "referrer-policy",
    "retry-after", "server", "server-timing", "set-cookie", "trailer", "transfer-encoding",
    "upgrade", "user-agent", "vary", "x-content-type-options", "x-request-id",
  ]

  private init(_ name: String, separator: String) {
    self.name = name
    self.separator = separator
  }

  /// Creates the field with this name; `nil` if the name is invalid or answers use it with another meaning.
  package init?(name: String) {
    let lowercased = name.lowercased()
    guard Self.nameBytes.contains(name.utf8.count), name.utf8.allSatisfy(\.isTokenCharacter),
      !Self.taken.contains(lowercased)
    else { return nil }
    let isTag = ["cache-tag", "edge-cache-tag"].contains(lowercased)
    self.init(name, separator: isTag ? "," : " ")
  }

  /// The keys as one value.
  func value(_ keys: [String]) -> String { keys.joined(separator: separator) }
}

extension FeedStore {
  /// The keys of all answers that a change since `version` may have made stale; for threads that may wait.
  ///
  /// Purges go by feed: the keys of a changed post are those of the feeds that it is in now. Feeds that the
  /// post left or joined have changed themselves.
  ///
  /// - Throws: what the store throws.
  func changedKeys(since version: StoreVersion) throws -> Set<String> {
    guard let changes = changes(since: version), !changes.areSettings,
      changes.posts.count <= CacheKey.lookups
    else { return [CacheKey.all] }
    guard !changes.feeds.isEmpty || !changes.posts.isEmpty else { return [] }
    var keys: Set = [CacheKey.loose]
    if !changes.feeds.isEmpty { keys.insert(CacheKey.feeds) }
    for feed in changes.feeds { keys.insert(CacheKey.feed(feed)) }
    for start in stride(from: 0, to: changes.posts.count, by: CacheKey.postsAtOnce) {
      let end = min(start + CacheKey.postsAtOnce, changes.posts.count)
      let posts = try posts(Array(changes.posts[start..<end]))
      for post in posts.posts {
        for placement in try item(withID: posts.string(post.id))?.placements ?? [] {
          keys.insert(CacheKey.feed(placement.feed))
        }
      }
    }
    return keys
  }
}

extension CacheKey {
  /// The maximum number of changed posts whose feeds are looked up; with more, all answers are purged.
  fileprivate static let lookups = 5_000
  /// The number of posts that are read at once.
  fileprivate static let postsAtOnce = 100
}
