import Feed

/// An action for the client, and its reason.
public struct PrefetchAction: Hashable, Sendable, Codable {
  /// The action.
  public let kind: Kind
  /// The reason, in numbers; its description puts them in words.
  public let reason: PrefetchReason

  /// Creates an action with this reason.
  public init(_ kind: Kind, _ reason: PrefetchReason) {
    self.kind = kind
    self.reason = reason
  }

  /// A kind of action.
  public enum Kind: Hashable, Sendable, Codable {
    /// Load these bytes; report what arrives, and how the transfer ends.
    case fetch(PrefetchTransfer)
    /// End the transfer. Keep the bytes that have arrived.
    case cancel(transfer: Int)
    /// Pause the transfer: it will be resumed or cancelled. A client that cannot pause ends the request, and
    /// requests the rest when the transfer is resumed.
    case pause(transfer: Int)
    /// Resume a paused transfer.
    case resume(transfer: Int)
    /// Request a page of the feed; report that it arrived or failed.
    case askForPage(PrefetchPlace)
    /// The active item has nothing to show yet: show a loader if the person looks at it.
    case showPlaceholder(item: String)
    /// The bytes that start the item are held: a decoder can begin.
    case ready(item: String)
    /// Show the active item's first frame in place of the placeholder: it is held, and its decoder has had
    /// its time.
    case showFrame(item: String)
    /// Delete these bytes of a file.
    case evict(key: String, Range<Int>)
    /// Send `timerFired` at this time. There is one timer: it stays set, regardless of other events, until it
    /// fires or the next `waitUntil` replaces it.
    case waitUntil(milliseconds: Int)
  }
}

/// A transfer of a file's bytes.
public struct PrefetchTransfer: Hashable, Sendable, Codable {
  /// The urgency of a transfer; of two transfers, the one with the smaller value goes first.
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

  /// The transfer's id, unique in the session and rising.
  public let id: Int
  /// The item that the transfer is for.
  @ByBytes public private(set) var item: String
  /// The index of the media in the item.
  public let media: Int
  /// The index of the file in the media; 0 is the original.
  public let variant: Int
  /// The file's key.
  @ByBytes public private(set) var key: String
  /// The offset of the first byte.
  public let start: Int
  /// The offset behind the last byte; `nil` for a file's end that is unknown.
  public let end: Int?
  /// The urgency.
  public let priority: Priority
}
