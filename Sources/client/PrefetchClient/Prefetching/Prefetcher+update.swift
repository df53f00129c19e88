import Prefetch

extension Prefetcher {
  /// An event that the app may show.
  public enum Update: Sendable {
    /// The list of items (`session.items`) changed.
    case itemsChanged
    /// The active item has nothing to show yet.
    case placeholder(item: String)
    /// The bytes that start the item are there: a decoder can begin.
    case ready(item: String)
    /// The active item's first frame can be shown.
    case frame(item: String)
    /// A page could not be loaded.
    case pageFailed(FeedSessionError)
    /// The engine took this action, for the reason that it states.
    case acted(PrefetchAction)
  }
}
