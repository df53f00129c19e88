import Feed

/// An item that a session looked at: what of its start was there, when it showed, and how long it was watched.
public struct SeenItem: Hashable, Sendable {
  /// The item.
  @ByBytes public var id: String
  /// Which of its first file's variants was shown, by its index on pages; nil for the file itself.
  public var variant: Int?
  /// Which version of that file the page was of that told how it starts (`MediaVersion.mark`); nil where it told none.
  @ByBytes public var version: String?
  /// How many bytes of the file were there when the item became active.
  public var heldBytes = 0
  /// How many start it by the hint: first bytes of the file, or those of its needed ranges.
  public var neededBytes = 0
  /// From becoming active until those were there; nil if they never were.
  public var readyMilliseconds: Int?
  /// From becoming active until the first frame; nil if there was none, or the client cannot tell.
  public var frameMilliseconds: Int?
  /// How long it played, or was looked at, without the time that it stood still.
  public var watchedMilliseconds = 0
  /// The person left while a loader stood.
  public var hasLeftWaiting = false

  /// An item of which nothing was there.
  public init(id: String) { self.id = id }

  /// What is impossible in it, as the field and what is wrong; nil if nothing is.
  ///
  /// - Parameter until: when its part ends, in milliseconds of the session.
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
