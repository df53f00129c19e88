import Catalog
import Feed
import HTTP

/// How long answers may be kept by caches, RFC 9111 and RFC 5861.
struct CachePolicy: Sendable {
  /// One `Cache-Control`, which many answers share.
  final class Directive: Sendable {
    /// `nil`: never stored.
    let value: String?
    /// The field, with those of every answer that any page may read.
    let fields: Fields
    /// These and `Vary`, for each set of fields on which an answer may depend.
    private let varying: [Fields]
    /// For pages: how long they are fresh, and may be shown while they are asked for again, and the moment at which
    /// both end.
    private let lasting: (maxAge: Int, stale: Int, until: NextMoment)?
    /// In which field answers have the keys by which caches in front are told to forget them; nil where they
    /// have none.
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

    /// The fields, and `Vary` for an answer that depends on these of the request's.
    func fields(varyingBy names: VaryingFields) -> Fields {
      guard let lasting, let seconds = secondsLeft else { return varying[Int(names.rawValue)] }
      let maxAge = min(lasting.maxAge, seconds)
      let stale = min(lasting.stale, seconds - maxAge)
      var fields: Fields = ["Cache-Control": CachePolicy.value(maxAge, stale)]
      fields.appendCORS()
      fields.append("Vary", names.value)
      return fields
    }

    /// How many seconds an answer of now may be kept, where a moment to come makes that fewer than usual.
    var secondsLeft: Int? {
      guard let lasting else { return nil }
      return lasting.until.secondsLeft(within: lasting.maxAge + lasting.stale)
    }
  }

  let pages: Directive
  let documents: Directive
  /// For files that belong together, of one version of the program: revalidated each time, mostly with 304.
  let files = Directive("no-cache")

  /// - Parameter moment: when what pages show changes next by itself.
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

/// The request's fields that an answer depends on, beside `Accept-Encoding`.
struct VaryingFields: OptionSet, Sendable {
  let rawValue: UInt8

  /// What says which network the client has.
  static let network = VaryingFields(rawValue: 1)
  /// Whether the person saves data.
  static let savesData = VaryingFields(rawValue: 2)

  /// Which types the client takes.
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

/// The keys by which caches in front have answers, and are told to forget them: visible ASCII without white space
/// and commas, whatever a feed's name is made of, so that a list of them can be divided by either.
enum CacheKey {
  /// Of all that is made of the database.
  static let all = "all"
  /// Of the list of feeds.
  static let feeds = "feeds"
  /// Of items that do not have the keys of all their feeds: forgotten with every change.
  static let loose = "loose"

  /// Of all that shows a feed or items of it: the name as it stands in a query, 305 bytes at the most.
  static func feed(_ name: String) -> String {
    feedPrefix + PercentEncoding.encode(name, for: .queryValue)
  }

  fileprivate static let feedPrefix = "feed/"

  /// Of one item's own documents. Writes purge by feed; this one is for people.
  static func item(_ id: String) -> String {
    "item/" + PercentEncoding.encode(id, for: .queryValue)
  }

  /// How many bytes an item's keys may take together: caches take heads of some thousands.
  static let itemBytes = 2_048

  /// The keys of an item's documents, which say in which feeds it is.
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
  /// Of a page, or of another document about one feed: `all` and the feed's.
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

/// The field in which answers have their keys, and purges name them.
package struct CacheKeyField: Equatable, Sendable {
  /// Its name.
  package let name: String
  /// What stands between two keys: `Cache-Tag` and `Edge-Cache-Tag` are lists with commas, all others have spaces.
  let separator: String

  /// What Fastly reads, and docker/varnish.vcl.
  package static let surrogateKey = CacheKeyField("Surrogate-Key", separator: " ")

  /// Names as long as this are no names.
  private static let nameBytes = 1...64
  /// Answers have these with another meaning.
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

  /// The field of this name; nil if keys cannot have it.
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
  /// The keys of all answers that a change since `version` may have made old; for threads that may wait.
  ///
  /// Purging goes by feed: a post that changed stands for the feeds it is in now, and those that it left or came
  /// to have changed themselves.
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
  /// Of how many posts the feeds are looked up; where more have changed at once, everything has.
  fileprivate static let lookups = 5_000
  /// How many are read at once.
  fileprivate static let postsAtOnce = 100
}
