import Catalog
import Feed

/// The change that a row of the change log, or a new entry, describes.
package enum ChangedRow: Hashable, Sendable {
  /// The post of this number, with its id if the row has it: the post may then be gone.
  case post(Int64, id: String?)
  /// The feed of this number; with a name, if the name now means another feed, or none.
  case feed(Int64, name: String?)
  case settings

  /// Reads a row of the columns kind, post_id, feed_id and id.
  package init(kind: String, post: Int64?, feed: Int64?, id: String?) {
    switch kind {
    case "post", "entry": self = .post(post ?? 0, id: id)
    case "feed": self = .feed(feed ?? 0, name: id)
    default: self = .settings
    }
  }
}

/// The present names of the posts and feeds in rows.
package struct ChangedNames {
  /// The ids of posts by their numbers.
  package var ids: [Int64: String] = [:]
  /// The numbers of posts by their ids, for rows that have an id.
  package var numbers: [ByteText: Int64] = [:]
  /// The names of feeds by their numbers.
  package var feeds: [Int64: String] = [:]
  /// The names of existing feeds, for rows that have a name.
  package var feedNames: Set<ByteText> = []

  package init() {}
}

/// A page of changes, made from rows: pure.
package struct ChangedRows {
  /// The changes, each item and feed once, at the place of its last change.
  package private(set) var changes: [StoreChange] = []
  /// The numbers of the existing posts of items, in the order of the changes.
  package private(set) var posts: [Int64] = []

  /// - Parameter rows: in the order of their commits.
  package init(_ rows: [ChangedRow], _ names: ChangedNames) {
    var items: Set<ByteText> = []
    var feeds: [ByteText: Int] = [:]
    // Backwards: the last change of each counts.
    for row in rows.reversed() {
      switch row {
      case .settings: continue
      case .post(let number, let id):
        // If a post is gone and the row lacks its id, a later row has it.
        guard let id = names.ids[number] ?? id, items.insert(ByteText(id)).inserted else {
          continue
        }
        let present = names.ids[number] == nil ? names.numbers[ByteText(id)] : number
        changes.append(StoreChange(.item, id, present == nil ? .gone : .present))
        if let present { posts.append(present) }
      case .feed(let number, let told):
        guard let name = told ?? names.feeds[number] else { continue }
        let isThere = told == nil || names.feedNames.contains(ByteText(name))
        let change = StoreChange(
          .feed, name, !isThere ? .gone : told == nil ? .present : .replaced)
        if let place = feeds[ByteText(name)] {
          // The feed was replaced, whatever changed in it later.
          if change.state != .present { changes[place] = change }
        } else {
          feeds[ByteText(name)] = changes.count
          changes.append(change)
        }
      }
    }
    changes.reverse()
    posts.reverse()
  }

  /// Sets the items of the changes.
  package mutating func add(_ items: [StoredItem]) {
    let byID = Dictionary(
      items.map { (ByteText($0.post.id), $0) }, uniquingKeysWith: { first, _ in first })
    for index in changes.indices where changes[index].kind == .item {
      changes[index].item = byID[ByteText(changes[index].name)]
    }
  }
}

/// SQL on webhooks that is the same in every database.
package enum WebhookText {
  /// The columns, in the order in which they are read and written.
  package static let columns = """
    name, revision, position, until, is_reset, behind_since, failures, next_attempt, last_success,
    last_failure, last_problem
    """
  package static let all = "SELECT \(columns) FROM webhook ORDER BY name"

  /// Writes a row as its next revision. Changes one row if no other write came first.
  ///
  /// - Parameter places: the placeholders of the columns' values; the revision is the next one.
  package static func save(_ places: [String]) -> String {
    """
    INSERT INTO webhook (\(columns)) VALUES (\(places.joined(separator: ", ")))
    ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, position = excluded.position,
      until = excluded.until, is_reset = excluded.is_reset, behind_since = excluded.behind_since,
      failures = excluded.failures, next_attempt = excluded.next_attempt,
      last_success = excluded.last_success, last_failure = excluded.last_failure,
      last_problem = excluded.last_problem
    WHERE webhook.revision = excluded.revision - 1
    """
  }
}
