import Prefetch

extension Prefetcher {
  /// What the app may want to show.
  public enum Update: Sendable {
    /// The list has other items now: `items`.
    case itemsChanged
    /// The active item has nothing to show yet.
    case placeholder(item: String)
    /// What starts the item is there: a decoder can begin.
    case ready(item: String)
    /// The active item's first frame can be seen.
    case frame(item: String)
    /// A page does not come.
    case pageFailed(FeedSessionError)
    /// The engine did something, and why.
    case acted(PrefetchAction)
  }
}
