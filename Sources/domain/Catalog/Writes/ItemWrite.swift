import Feed

/// A change of one item, and the condition under which it is made.
public struct ItemWrite: Sendable {
  /// A kind of change of an item.
  public enum Change: Sendable {
    /// Creates or replaces the post. Without `placements` it stays in its feeds, and a new one is in none;
    /// with them it is in exactly these feeds afterwards. With `keepsCounters` the counters of an existing
    /// post stay unchanged.
    case put(Post, placements: [Placement]?, keepsCounters: Bool = false)
    /// Deletes the post from the store and from every feed, in every ranking.
    case delete
    /// Adds to the post's counters, which may become negative; a missing counter starts at zero. The names
    /// are within `RecordLimits.counterNameCharacters`.
    case increment([Counter], key: IdempotencyKey?)
    /// Adds the post to its feeds, or removes it from them, as its schedule requires now.
    case followSchedule
  }

  /// The post's id.
  public let id: String
  /// The change.
  public let change: Change
  /// Decides whether the writer has the right to do this. Called with the same item as `condition`, before
  /// it, and before a replay is answered.
  public let authorization: Condition?
  /// Receives the current item, or `nil` if it does not exist, in the transaction that would change it. An
  /// error that it throws becomes the write's error, and nothing is changed. Other writes wait meanwhile. A
  /// replay does not call it, because it held the first time.
  public let condition: Condition?

  /// Decides whether the current item may be changed.
  public typealias Condition = @Sendable (StoredItem?) throws -> Void

  /// Creates a change of the item with this id. A post that is put must have the same id.
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

/// A client's key for a request that it may have to send again, so that it counts once.
public struct IdempotencyKey: Sendable, Hashable {
  /// The client's name for the request; not empty.
  public let text: String
  /// The owner of the key, the name of a token: two clients that number their requests 1, 2, 3 do not share
  /// keys.
  public let owner: String
  /// A digest of the request: the same key with another fingerprint is rejected. The caller that makes the
  /// key makes the fingerprint, and keeps both short.
  public let fingerprint: String

  /// Creates the key of a request with this fingerprint.
  ///
  /// - Parameter owner: The owner; not empty, without a space.
  public init(_ text: String, of owner: String, fingerprint: String) {
    precondition(!text.isEmpty, "a key has a text")
    precondition(!owner.isEmpty && !owner.utf8.contains(UInt8(ascii: " ")), "a key has an owner")
    self.text = text
    self.owner = owner
    self.fingerprint = fingerprint
  }

  /// The form in which a store keeps the key: the owner, a space, the text. Before version 0.2 it was the
  /// text alone, which has no space.
  public var storedText: String { "\(owner) \(text)" }
}

/// The result of a write of an item.
public enum ItemOutcome: Sendable, Hashable {
  /// The post did not exist before.
  case created(Post)
  /// The post existed, and is this one now.
  case replaced(Post)
  /// The post no longer exists.
  case deleted
  /// All counters of the post after the increments; for a replay, those after the first request.
  case counted([Counter], isReplay: Bool)
}

extension [Counter] {
  /// Returns these counters after the increments, in the order of their names' bytes. A missing counter
  /// starts at zero; a name that occurs twice is added twice.
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
    // A stored post may have more counters than the limit; they can still be incremented.
    guard counters.count <= Swift.max(count, RecordLimits.counters) else {
      throw .tooManyCounters(item: item, limit: RecordLimits.counters)
    }
    return counters.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }
}
