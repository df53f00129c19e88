import Catalog
import Feed
import HTTP

/// A token for writing, and what its holder may write.
package struct WriteToken: Sendable, Hashable {
  /// What may be written. Each right adds to the others.
  package struct Rights: Sendable, Hashable {
    /// Everything there is.
    package var everything = false
    /// Counters of any item.
    package var counters = false
    /// Media files.
    package var media = false
    /// Experiments on policies.
    package var policies = false
    /// To read what changed, and how far webhooks are.
    package var changes = false
    /// These feeds: their titles, and items that are in no other feed before or after; counters of items that
    /// are in one of them.
    package var feeds: Set<ByteText> = []

    /// No right at all.
    package init() {}

    /// Every right.
    package static let all: Rights = {
      var rights = Rights()
      rights.everything = true
      return rights
    }()

    /// Whether there is any.
    package var isNone: Bool {
      !everything && !counters && !media && !policies && !changes && feeds.isEmpty
    }
  }

  /// The name of its holder in logs.
  package let name: String
  /// What writers present: `b64token` (RFC 6750 section 2.1).
  package let secret: String
  /// What may be written with it.
  package let rights: Rights

  /// A token.
  package init(name: String, secret: String, rights: Rights = .all) {
    self.name = name
    self.secret = secret
    self.rights = rights
  }

  static let challenge = "Bearer realm=\"lookahead\""

  /// - Parameter what: a clause about what would be written.
  private func refusal(_ what: String) -> Problem {
    var problem = Problem(
      .insufficientRights, .forbidden, "The token \"\(name)\" lacks the required right: \(what).")
    problem.fields.append(
      "WWW-Authenticate", Self.challenge + ", error=\"insufficient_scope\"")
    return problem
  }
}

extension [WriteToken] {
  /// The one token of a server that has no others: with it everything may be written.
  package static func only(_ secret: String) -> [WriteToken] {
    [WriteToken(name: "writer", secret: secret)]
  }
}

// MARK: What a write needs

extension WriteToken {
  /// - Throws: `Problem` 403 where not everything may be written.
  func checkEverything() throws {
    guard rights.everything else { throw refusal("imports require everything") }
  }

  /// - Throws: `Problem` 403 where media files may not be written.
  func checkMedia() throws {
    guard rights.everything || rights.media else {
      throw refusal("media files require media")
    }
  }

  /// - Throws: `Problem` 403 where experiments on policies may not be begun or ended.
  func checkPolicies() throws {
    guard rights.everything || rights.policies else {
      throw refusal("experiments require policies")
    }
  }

  /// - Throws: `Problem` 403 where changes may not be read.
  func checkChanges() throws {
    guard rights.everything || rights.changes else {
      throw refusal("reading changes requires changes")
    }
  }

  /// - Throws: `Problem` 403 where the feed may not be written.
  func check(feed name: String) throws {
    guard rights.everything || rights.feeds.contains(name) else {
      throw refusal("the feed \"\(name)\" is not one of its feeds")
    }
  }

  /// What an item's new feeds need; nil where it stays in those that it is in.
  ///
  /// - Throws: `Problem` 403 where one of them may not be written.
  func check(_ placements: [Placement]?) throws {
    guard !rights.everything, let placements else { return }
    guard !placements.isEmpty else { throw refusal("the item is in none of its feeds") }
    for placement in placements { try check(feed: placement.feed) }
  }

  /// The condition of an item's write: the token may write the current item.
  ///
  /// - Parameter hasFeeds: whether the write says in which feeds the item is to be; an absent item that is to be in
  ///   no feed may be written only with the right to everything.
  func itemAuthorization(hasFeeds: Bool) -> ItemWrite.Condition? {
    guard !rights.everything else { return nil }
    return { [self] item in
      if item != nil || !hasFeeds { try check(item?.placements ?? []) }
    }
  }

  /// What lets an item's counters be added to.
  var counterAuthorization: ItemWrite.Condition? {
    guard !rights.everything, !rights.counters else { return nil }
    return { [self] item in
      if let item, !item.placements.contains(where: { rights.feeds.contains($0.feed) }) {
        throw refusal("the item is in none of its feeds")
      }
    }
  }
}
