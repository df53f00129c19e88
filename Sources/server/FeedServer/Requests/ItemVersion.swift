import Catalog
import Feed
import HTTP
import PostJSON

/// The version of an item: derived from everything in its record, and so the same in every representation,
/// for any network and coding.
struct ItemVersion {
  let text: String

  init(_ item: StoredItem) { self.init(item.post, item.placements) }

  private init(_ post: Post, _ placements: [Placement]) {
    text = ContentHash(SeedRecord.post(post, placements: placements).json.span).short
  }

  /// The version without the counters, which other writers change at any time.
  static func withoutCounters(_ item: StoredItem) -> ItemVersion {
    var post = item.post
    post.counters = []
    return ItemVersion(post, item.placements)
  }
}

/// The version of a feed, for clients that want to change it: its name and title. What its entries add to its
/// representation does not change the version.
struct FeedVersion {
  let text: String

  init(_ feed: StoredFeed) {
    let json = SeedRecord.feed(name: feed.name, title: feed.title).json
    text = ContentHash(json.span).short
  }
}

/// The preconditions of a write (RFC 9110 section 13): the tag of any current representation matches.
struct WritePreconditions: Sendable {
  private let method: Method
  private let fields: Fields
  /// Whether a condition cannot be parsed: it never holds, so the write is refused.
  private let isMalformed: Bool

  init(_ request: Request) {
    method = request.method
    var fields = Fields()
    var isMalformed = false
    for name in ["If-Match", "If-None-Match"] {
      guard let value = request.fields.combined(name) else { continue }
      fields.append(name, Self.versions(value))
      if EntityTagCondition(parsing: value) == nil { isMalformed = true }
    }
    self.fields = fields
    self.isMalformed = isMalformed
  }

  /// The condition that the store checks before it writes an item; `nil` if the request has no precondition.
  var itemCondition: ItemWrite.Condition? {
    guard !fields.isEmpty else { return nil }
    return { item in try check(item.map { ItemVersion($0).text }, of: "item") }
  }

  /// The condition for a feed.
  var feedCondition: FeedWrite.Condition? {
    guard !fields.isEmpty else { return nil }
    return { feed in try check(feed.map { FeedVersion($0).text }, of: "feed") }
  }

  /// - Parameter version: the current version of the item or feed; `nil` if it does not exist.
  /// - Throws: `Problem` 412 if the preconditions fail.
  private func check(_ version: String?, of noun: String) throws {
    if isMalformed {
      throw Problem(
        .preconditionFailed, .preconditionFailed,
        "If-Match or If-None-Match is neither * nor a list of entity tags.")
    }
    let tag = version.map { EntityTag($0) }
    guard Preconditions.evaluate(method, fields, current: tag) == .proceed else {
      throw Problem(
        .preconditionFailed, .preconditionFailed,
        version == nil
          ? "There is no such \(noun)."
          : "The \(noun) is not in the state that the request expects: read it again.")
    }
  }

  /// The list with each tag reduced to its version; a malformed list is unchanged.
  private static func versions(_ value: String) -> String {
    guard case .tags(let tags) = EntityTagCondition(parsing: value) else { return value }
    return tags.map { tag in
      let version = tag.opaque.prefix { String($0) != EntityTag.versionEnd }
      return EntityTag(String(version), isWeak: tag.isWeak).description
    }.joined(separator: ", ")
  }
}
