import Feed

/// An item that a session viewed: the bytes that were present at its start, its delays, and the time that
/// it was watched.
public struct SeenItem: Hashable, Sendable {
  /// The id of the item.
  @ByBytes public var id: String
  /// The index on pages of the variant of its first file that was shown; `nil` for the file itself.
  public var variant: Int?
  /// The mark of the file's version that the page had with its start hint (`MediaVersion.mark`); `nil` if
  /// it had none.
  @ByBytes public var version: String?
  /// The number of bytes of the file that were present when the item became active.
  public var heldBytes = 0
  /// The number of bytes that start it by the hint: its first bytes, or those of its needed ranges.
  public var neededBytes = 0
  /// The time from becoming active until those bytes were present; `nil` if they never were.
  public var readyMilliseconds: Int?
  /// The time from becoming active until the first frame; `nil` if there was none, or the client cannot
  /// tell.
  public var frameMilliseconds: Int?
  /// The time that it played or was viewed, without stalls.
  public var watchedMilliseconds = 0
  /// Whether the user left while a loader was shown.
  public var hasLeftWaiting = false

  /// Creates an item without any bytes present.
  public init(id: String) { self.id = id }

  /// The first impossible value, as the field and the problem; `nil` if there is none.
  ///
  /// - Parameter until: The end of the part, in milliseconds of the session.
  public func problem(until: Int) -> (field: String, problem: String)? {
    for (field, milliseconds) in [
      ("readyMs", readyMilliseconds), ("frameMs", frameMilliseconds),
      ("watchedMs", watchedMilliseconds),
    ] {
      if let milliseconds, milliseconds > until {
        return (field, "\(milliseconds) ms is longer than the session")
      }
    }
    return nil
  }
}
