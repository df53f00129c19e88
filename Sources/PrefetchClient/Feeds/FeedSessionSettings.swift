/// How a session asks for pages.
public struct FeedSessionSettings: Hashable, Sendable {
  /// Items of a page, 1 to 100.
  public var limit = 30
  /// The network profile by name; `nil` lets the server choose by what the platform's fields say.
  public var network: String?
  /// The person saves data.
  public var savesData = false
  /// Pages that are held; those farthest from the last one asked for go, and can be asked for again.
  public var heldPages = 100
  /// What a page has at the most.
  public var pageBytes = 16_777_216
  /// How often a request that may go better in a while is made again.
  public var retries = 2
  /// The wait before the first time, doubled each time.
  public var retryMilliseconds = 300
  /// No wait is longer; where the server asks for a longer one, the error says so at once.
  public var longestRetryMilliseconds = 5_000
  /// How long to wait for an answer, and for more of it.
  public var timeoutMilliseconds = 20_000

  /// The usual settings.
  public init() {}
}
