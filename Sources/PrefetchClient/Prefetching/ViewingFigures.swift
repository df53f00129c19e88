/// What a viewing came to: the statistics line of a measuring stand.
public struct ViewingFigures: Hashable, Sendable {
  /// Items that the person looked at.
  public var items = 0
  /// Of these, pictures that were not whole when they became active.
  public var imageLoaders = 0
  /// Of these, clips short of what starts them.
  public var videoLoaders = 0
  /// How long the person looked at loaders, together.
  public var waitMilliseconds = 0
  /// Bytes of media and of pages.
  public var bytes = 0
  /// Of those of media, bytes of items that were not looked at, and of clips beyond what was watched.
  public var wastedBytes = 0
  /// Requests for media and for pages.
  public var requests = 0
  /// Of these, for pages.
  public var pageRequests = 0

  /// No viewing.
  public init() {}

  /// Loaders per thousand items that were looked at.
  public var loadersPerThousand: Double {
    items == 0 ? 0 : Double(imageLoaders + videoLoaders) * 1_000 / Double(items)
  }
}
