import Feed

/// What the client is to do, and why.
public struct PrefetchAction: Hashable, Sendable, Codable {
  /// What to do.
  public let kind: Kind
  /// Why, in numbers; its description says them in words.
  public let reason: PrefetchReason

  /// An action for this reason.
  public init(_ kind: Kind, _ reason: PrefetchReason) {
    self.kind = kind
    self.reason = reason
  }

  /// What to do.
  public enum Kind: Hashable, Sendable, Codable {
    /// Load these bytes; tell what arrives, and how it ends.
    case fetch(PrefetchTransfer)
    /// End the transfer. What has arrived of it stays.
    case cancel(transfer: Int)
    /// Let the transfer rest: it will be resumed or cancelled. A client that cannot ends the request and
    /// makes another for the rest when it is resumed.
    case pause(transfer: Int)
    /// Go on with a transfer that rests.
    case resume(transfer: Int)
    /// Ask the feed for a page; tell that it arrived, or failed.
    case askForPage(PrefetchPlace)
    /// The active item has nothing to show yet: a loader, if the person looks at it.
    case showPlaceholder(item: String)
    /// The bytes with which the item starts are there: a decoder can begin.
    case ready(item: String)
    /// The active item's first frame is there, its decoder's time having passed: the placeholder ends.
    case showFrame(item: String)
    /// Forget these bytes of a file.
    case evict(key: String, Range<Int>)
    /// Send `timerFired` at that time. One timer: it stays set whatever other events come meanwhile, until it fires or
    /// the next `waitUntil` replaces it.
    case waitUntil(milliseconds: Int)
  }
}

/// Bytes of a file to be loaded.
public struct PrefetchTransfer: Hashable, Sendable, Codable {
  /// How urgent: of two transfers, the one of less goes first.
  public enum Priority: Int, Hashable, Comparable, Sendable, Codable {
    /// The person waits for it.
    case urgent
    /// The rest of what the person looks at.
    case active
    /// Ahead of the person.
    case ahead

    /// Whether the left one goes first.
    public static func < (left: Priority, right: Priority) -> Bool {
      left.rawValue < right.rawValue
    }
  }

  /// Its own among all transfers of the session, rising.
  public let id: Int
  /// The item that it is for.
  @ByBytes public private(set) var item: String
  /// Which of the item's media.
  public let media: Int
  /// Which of the media's files: 0 is the original.
  public let variant: Int
  /// The file's key.
  @ByBytes public private(set) var key: String
  /// The first byte.
  public let start: Int
  /// Behind the last byte; `nil` where the file's end is not known: then to its end.
  public let end: Int?
  /// How urgent it is.
  public let priority: Priority
}
