import Catalog
import Feed
import HTTP

/// A token for writing, with its rights.
package struct WriteToken: Sendable, Hashable {
  /// The rights of a token. Each right adds to the others.
  package struct Rights: Sendable, Hashable {
    /// All rights.
    package var everything = false
    /// Counters of any item.
    package var counters = false
    /// Media files.
    package var media = false
    /// Experiments on policies.
    package var policies = false
    /// Reading changes, and the progress of webhooks.
    package var changes = false
    /// These feeds: their titles, items that are in no other feed before or after the write, and counters of
    /// items that are in one of them.
    package var feeds: Set<ByteText> = []

    /// Creates an empty set of rights.
    package init() {}

    /// Every right.
    package static let all: Rights = {
      var rights = Rights()
      rights.everything = true
      return rights
    }()

    /// Whether there are no rights.
    package var isNone: Bool {
      !everything && !counters && !media && !policies && !changes && feeds.isEmpty
    }
  }

  /// The name of its holder in logs.
  package let name: String
  /// The secret that writers present: `b64token` (RFC 6750 section 2.1).
  package let secret: String
  /// The rights of its holder.
  package let rights: Rights

  /// Creates a token.
  package init(name: String, secret: String, rights: Rights = .all) {
    self.name = name
    self.secret = secret
    self.rights = rights
  }

  static let challenge = "Bearer realm=\"lookahead\""

  /// - Parameter what: a clause about the right that the write requires.
  private func refusal(_ what: String) -> Problem {
    var problem = Problem(
      .insufficientRights, .forbidden, "The token \"\(name)\" lacks the required right: \(what).")
    problem.fields.append(
      "WWW-Authenticate", Self.challenge + ", error=\"insufficient_scope\"")
    return problem
  }
}

extension [WriteToken] {
  /// The only token of a server, with all rights.
  package static func only(_ secret: String) -> [WriteToken] {
    [WriteToken(name: "writer", secret: secret)]
  }
}

// MARK: Rights of writes

extension WriteToken {
  /// - Throws: `Problem` 403 without the right to everything.
  func checkEverything() throws {
    guard rights.everything else { throw refusal("imports require everything") }
  }

  /// - Throws: `Problem` 403 without the right to media files.
  func checkMedia() throws {
    guard rights.everything || rights.media else {
      throw refusal("media files require media")
    }
  }

  /// - Throws: `Problem` 403 without the right to begin and end experiments on policies.
  func checkPolicies() throws {
    guard rights.everything || rights.policies else {
      throw refusal("experiments require policies")
    }
  }

  /// - Throws: `Problem` 403 without the right to read changes.
  func checkChanges() throws {
    guard rights.everything || rights.changes else {
      throw refusal("reading changes requires changes")
    }
  }

  /// - Throws: `Problem` 403 without the right to the feed.
  func check(feed name: String) throws {
    guard rights.everything || rights.feeds.contains(name) else {
      throw refusal("the feed \"\(name)\" is not one of its feeds")
    }
  }

  /// Checks the rights to an item's new feeds; `nil` if the feeds do not change.
  ///
  /// - Throws: `Problem` 403 without the right to one of them.
  func check(_ placements: [Placement]?) throws {
    guard !rights.everything, let placements else { return }
    guard !placements.isEmpty else { throw refusal("the item is in none of its feeds") }
    for placement in placements { try check(feed: placement.feed) }
  }

  /// The condition of an item's write: the token may write the current item.
  ///
  /// - Parameter hasFeeds: whether the write sets the feeds of the item; an absent item without feeds
  ///   requires the right to everything.
  func itemAuthorization(hasFeeds: Bool) -> ItemWrite.Condition? {
    guard !rights.everything else { return nil }
    return { [self] item in
      if item != nil || !hasFeeds { try check(item?.placements ?? []) }
    }
  }

  /// The condition of adding to an item's counters.
  var counterAuthorization: ItemWrite.Condition? {
    guard !rights.everything, !rights.counters else { return nil }
    return { [self] item in
      if let item, !item.placements.contains(where: { rights.feeds.contains($0.feed) }) {
        throw refusal("the item is in none of its feeds")
      }
    }
  }
}
