import Feed

/// An item or a feed that was created, changed, moved or deleted, with its current state, not its state at
/// the time of the change. Each later change is reported again, so a copy that applies the current states,
/// change by change, converges to the store.
package struct StoreChange: Sendable {
  /// The kind of what changed.
  package enum Kind: String, Sendable, CaseIterable {
    case item, feed
  }

  /// The current state.
  package enum State: String, Sendable, CaseIterable {
    case present
    /// Deleted; a feed together with all its entries.
    case gone
    /// Another feed has the name: earlier knowledge about the feed and its entries is invalid.
    case replaced
  }

  /// The kind of what changed.
  package let kind: Kind
  /// The item's id, or the feed's name.
  package let name: String
  /// The current state.
  package let state: State
  /// The current item, if items were requested.
  package var item: StoredItem?

  /// Creates a change without an item.
  package init(_ kind: Kind, _ name: String, _ state: State) {
    (self.kind, self.name, self.state) = (kind, name, state)
  }
}

/// Some changes after a cursor, in the order of the commits; what changed several times is listed at its
/// last change.
package struct ChangePage: Sendable {
  /// The changes.
  package var changes: [StoreChange]
  /// The cursor after these changes.
  package var next: ChangeCursor
  /// Whether more changes are committed already.
  package var hasMore: Bool

  /// Creates a page.
  package init(changes: [StoreChange] = [], next: ChangeCursor, hasMore: Bool = false) {
    (self.changes, self.next, self.hasMore) = (changes, next, hasMore)
  }
}

/// The reason why changes after a cursor are not available.
package enum ChangeCursorError: Error, Hashable {
  /// The cursor is of another database.
  case foreign
  /// Changes after the cursor are no longer kept, or the database was reset to a state before it.
  case expired
}

/// The delivery state of a webhook. Times are milliseconds since 1970.
package struct WebhookState: Hashable, Sendable {
  /// The target's name.
  package let name: String
  /// Incremented by every save; 0 if it was never saved.
  package var revision = 0
  /// The position up to which everything was delivered.
  package var position: ChangeCursor
  /// The end of the delivery in progress; `nil` if there is none.
  package var end: ChangeCursor?
  /// Whether the delivery in progress reports that changes are lost, instead of changes.
  package var isReset = false
  /// The time since which deliveries are outstanding; `nil` if there are none.
  package var behindSince: Int64?
  /// The number of failed attempts since the last success.
  package var failures = 0
  /// The time of the next attempt after a failure.
  package var nextAttempt: Int64?
  /// The time of the last successful delivery.
  package var lastSuccess: Int64?
  /// The time of the last failed delivery.
  package var lastFailure: Int64?
  /// The reason for the last failure.
  package var lastProblem: String?

  /// Creates the state of a target that knows everything up to this position.
  package init(name: String, position: ChangeCursor) {
    (self.name, self.position) = (name, position)
  }
}

/// Reads the changes after a position, for clients that keep a copy, and keeps the delivery state of each
/// webhook.
///
/// For threads that may block. Each method throws the store's own failures.
package protocol ChangeStore: Sendable {
  /// Returns the changes that were committed after a cursor.
  ///
  /// - Parameters:
  ///   - cursor: The position to start after; `nil` for the store's current end.
  ///   - end: The position after which nothing is returned; `nil` for no such bound.
  ///   - limit: The maximum number of changes that are read, before those of one item or feed are merged.
  ///   - withItems: Whether to return the changed items.
  /// - Throws: `ChangeCursorError`.
  func changes(
    after cursor: ChangeCursor?, through end: ChangeCursor?, limit: Int, withItems: Bool
  ) throws -> ChangePage
  /// Sets how many changes are kept, if it differs.
  func keepChanges(_ count: Int) throws
  /// Returns all webhooks that were ever saved, by name.
  func webhooks() throws -> [WebhookState]
  /// Saves a webhook's state as the next revision.
  ///
  /// - Returns: `false` if another process saved that revision before; then nothing is changed.
  func save(_ webhook: WebhookState) throws -> Bool
}
