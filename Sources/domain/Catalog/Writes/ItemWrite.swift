import Feed

/// A change of one item, and the condition under which it is made.
public struct ItemWrite: Sendable {
  /// What becomes of the item.
  public enum Change: Sendable {
    /// Creates or replaces the post. Without `placements` it stays in the feeds in which it is, a new
    /// one in none; with them it is in exactly these feeds afterwards. With `keepsCounters` the counters of a post
    /// that is there stay as they are.
    case put(Post, placements: [Placement]?, keepsCounters: Bool = false)
    /// Takes the post out of the store and out of every feed, in every ranking.
    case delete
    /// Adds to the post's counters, below zero too; a counter that is not there starts at zero. The
    /// names are within `RecordLimits.counterNameBytes`.
    case increment([Counter], key: IdempotencyKey?)
    /// Brings the post into its feeds, or out of them, as its schedule says now.
    case followSchedule
  }

  /// The post's id.
  public let id: String
  /// What becomes of it.
  public let change: Change
  /// Whether the writer may do this at all. Sees what `condition` sees, before it, and before a replay is answered.
  public let authorization: Condition?
  /// Receives the current item, or `nil` if it does not exist, in the transaction that would change it. An
  /// error that it throws becomes the write's error, and then nothing is changed. Other writes wait
  /// meanwhile. A replay does not call it, because it held the first time.
  public let condition: Condition?

  /// Decides whether an item, as it is, may be changed.
  public typealias Condition = @Sendable (StoredItem?) throws -> Void

  /// A change of the item with this id: of a post that is put, its own.
  public init(
    id: String, change: Change, condition: Condition? = nil, authorization: Condition? = nil
  ) {
    if case .put(let post, _, _) = change {
      precondition(post.id.utf8.elementsEqual(id.utf8), "the post has another id")
    }
    self.id = id
    self.change = change
    self.authorization = authorization
    self.condition = condition
  }
}

/// What a client calls a request that it may have to send again, so that it counts once.
public struct IdempotencyKey: Sendable, Hashable {
  /// The client's own name for the request; not empty.
  public let text: String
  /// Whose key it is, the name of a token: two clients that number their requests 1, 2, 3 do not share them.
  public let owner: String
  /// A digest of the request: the same key with another fingerprint is refused. The caller that makes the
  /// key makes the fingerprint, and keeps both short.
  public let fingerprint: String

  /// The key of a request that asked for this.
  ///
  /// - Parameter owner: not empty, without a space.
  public init(_ text: String, of owner: String, fingerprint: String) {
    precondition(!text.isEmpty, "a key has a text")
    precondition(!owner.isEmpty && !owner.utf8.contains(UInt8(ascii: " ")), "a key has an owner")
    self.text = text
    self.owner = owner
    self.fingerprint = fingerprint
  }

  /// What a store keeps it by: the owner, a space, the text. Before version 0.2 it was the text alone, in which
  /// there is no space.
  public var storedText: String { "\(owner) \(text)" }
}

/// What a write did to its item.
public enum ItemOutcome: Sendable, Hashable {
  /// There was no such post before.
  case created(Post)
  /// There was, and it is this one now.
  case replaced(Post)
  /// The post is gone.
  case deleted
  /// All counters of the post after the increments; of a replay, after those of the first request.
  case counted([Counter], isReplay: Bool)
}

extension [Counter] {
  /// These counters after the increments, in the order of their names' bytes. A counter that is not
  /// there starts at zero; a name that comes twice is added twice.
  ///
  /// - Throws: `FeedError.counterOutOfRange` and `FeedError.tooManyCounters`, which name the item.
  public func adding(_ increments: [Counter], ofItem item: String) throws(FeedError) -> [Counter] {
    var counters = self
    for increment in increments {
      let index = counters.firstIndex { $0.name.isSame(as: increment.name) }
      let old = index.map { counters[$0].value } ?? 0
      let (value, isOverflow) = old.addingReportingOverflow(increment.value)
      guard !isOverflow, (-RecordLimits.number...RecordLimits.number).contains(value) else {
        throw .counterOutOfRange(item: item, counter: increment.name)
      }
      if let index {
        counters[index].value = value
      } else {
        counters.append(Counter(increment.name, value))
      }
    }
    // What was stored may be more than the limit; it can still be counted on.
    guard counters.count <= Swift.max(count, RecordLimits.counters) else {
      throw .tooManyCounters(item: item, limit: RecordLimits.counters)
    }
    return counters.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }
}
