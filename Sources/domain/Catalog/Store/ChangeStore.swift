import Feed

/// An item or a feed that was made, changed, moved or deleted, and what there is of it now: not what it was when it
/// changed. Each later change of it is told again, so that a copy that takes over what there is, change by change,
/// ends as the store is.
package struct StoreChange: Sendable {
  /// What changed.
  package enum Kind: String, Sendable, CaseIterable {
    case item, feed
  }

  /// What there is now.
  package enum State: String, Sendable, CaseIterable {
    case present
    /// It is no longer there; of a feed, all its entries are gone with it.
    case gone
    /// Another feed has the name: what was known of the feed and its entries holds no longer.
    case replaced
  }

  /// What changed.
  package let kind: Kind
  /// The item's id, or the feed's name.
  package let name: String
  /// What there is now.
  package let state: State
  /// The item as it is now, where items are wanted.
  package var item: StoredItem?

  /// A change, without an item.
  package init(_ kind: Kind, _ name: String, _ state: State) {
    (self.kind, self.name, self.state) = (kind, name, state)
  }
}

/// Some of what changed behind a cursor, in the order of the commits; what changed several times stands where it
/// changed last.
package struct ChangePage: Sendable {
  /// What changed.
  package var changes: [StoreChange]
  /// Behind all of these.
  package var next: ChangeCursor
  /// Whether more was committed already.
  package var hasMore: Bool

  /// A page.
  package init(changes: [StoreChange] = [], next: ChangeCursor, hasMore: Bool = false) {
    (self.changes, self.next, self.hasMore) = (changes, next, hasMore)
  }
}

/// Why changes cannot be told from a cursor on.
package enum ChangeCursorError: Error, Hashable {
  /// It is of another database.
  case foreign
  /// Changes behind it are no longer kept, or the database has gone back behind it.
  case expired
}

/// How far a webhook has been told. Times are milliseconds since 1970.
package struct WebhookState: Hashable, Sendable {
  /// The target's name.
  package let name: String
  /// Rises with every save; 0 of one that was not saved yet.
  package var revision = 0
  /// Up to where it was told all.
  package var position: ChangeCursor
  /// Through where it is being told; nil where it is being told nothing.
  package var end: ChangeCursor?
  /// Whether it is being told that changes are lost, and not changes.
  package var isReset = false
  /// Since when it has not been told all; nil where it has.
  package var behindSince: Int64?
  /// How many attempts have failed since one succeeded.
  package var failures = 0
  /// When it is tried again, after a failure.
  package var nextAttempt: Int64?
  /// When it last took what it was told.
  package var lastSuccess: Int64?
  /// When it last did not.
  package var lastFailure: Int64?
  /// Why it did not.
  package var lastProblem: String?

  /// A target that knows what there is at this place.
  package init(name: String, position: ChangeCursor) {
    (self.name, self.position) = (name, position)
  }
}

/// What changed, from a place on, for whoever keeps a copy; and how far each webhook has been told of that.
///
/// For threads that may wait. Each method throws the store's own failures.
package protocol ChangeStore: Sendable {
  /// What was committed behind a cursor.
  ///
  /// - Parameters:
  ///   - cursor: nil for where the store is now.
  ///   - end: nothing behind it is told; nil where there is no such bound.
  ///   - limit: how many changes are looked at, before those of one item or feed become one.
  ///   - withItems: whether the items are wanted that changed.
  /// - Throws: `ChangeCursorError`.
  func changes(
    after cursor: ChangeCursor?, through end: ChangeCursor?, limit: Int, withItems: Bool
  ) throws -> ChangePage
  /// Sets how many changes are kept, where it is another number.
  func keepChanges(_ count: Int) throws
  /// All webhooks that were ever saved, by name.
  func webhooks() throws -> [WebhookState]
  /// Saves a webhook's state as the next revision.
  ///
  /// - Returns: false where another one saved that revision before; then nothing is changed.
  func save(_ webhook: WebhookState) throws -> Bool
}
