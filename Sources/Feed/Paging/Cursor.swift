/// A point in a feed's order from which a page goes on.
///
/// Clients see it as an opaque text (see `Cursor+text.swift`). It names the feed, by a hash, and the
/// ranking it was made in and holds a position, not an item, so the item may be gone; it does not hold a page
/// size, so the next page may have another.
public struct Cursor: Hashable, Sendable {
  /// Which order the anchor is a place in.
  public enum View: Hashable, Sendable {
    /// One ranking, to its end, whatever ranking is current by then: history.
    case ranking(Int)
    /// What came after this ranking was seen: pull-to-refresh. Moves on to the current ranking.
    case newer(than: Int)
    /// The entries that ranking `to` has and ranking `from` had not.
    case arrivals(from: Int, to: Int)
  }

  /// A place between entries.
  public enum Anchor: Hashable, Sendable {
    /// Above everything.
    case start
    /// At this position, whether or not an entry is there.
    case position(Position)
    /// Below everything.
    case end
  }

  /// FNV-1a of the feed's name.
  public let feedHash: UInt64
  /// The order in which it is a place.
  public let view: View
  /// Where the page goes on.
  public let anchor: Anchor
  /// The top of what this walk has seen: what lies above it is newer.
  public let seen: Anchor

  /// A cursor of the feed of this name.
  public init(feed: String, view: View, anchor: Anchor, seen: Anchor) {
    self.init(feedHash: Self.hash(of: feed), view: view, anchor: anchor, seen: seen)
  }

  init(feedHash: UInt64, view: View, anchor: Anchor, seen: Anchor) {
    self.feedHash = feedHash
    self.view = view
    self.anchor = anchor
    self.seen = seen
  }

  /// A cursor of the same feed and walk, at another place.
  public func moved(to anchor: Anchor, in view: View) -> Cursor {
    Cursor(feedHash: feedHash, view: view, anchor: anchor, seen: seen)
  }

  /// The cursor was made for the feed of this name.
  public func belongs(to feed: String) -> Bool {
    feedHash == Self.hash(of: feed)
  }

  /// The rankings beside this one whose order must be at hand to read from here: mostly none.
  public func rankings(beside current: Int) -> [Int] {
    switch view {
    case .ranking(let ranking), .newer(let ranking): ranking == current ? [] : [ranking]
    case .arrivals(let from, let to): [from, to].filter { $0 != current }
    }
  }

  private static func hash(of feed: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in feed.utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    return hash
  }
}
