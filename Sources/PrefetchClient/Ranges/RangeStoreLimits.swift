/// What a range store may take, and how patient it is.
public struct RangeStoreLimits: Hashable, Sendable {
  /// Bytes that are kept, on disk or in memory.
  public var bytes = 268_435_456
  /// Files of which bytes are kept.
  public var files = 1_000
  /// Transfers ahead of the person that are under way at once; those that a reader waits for come on top.
  public var parallelTransfers = 4
  /// What one request asks for at the most.
  public var requestBytes = 4_194_304
  /// What the first look at a file asks for: its head, most likely, of which a player wants to know the size.
  public var probeBytes = 65_536
  /// A reader joins a transfer that will have brought its byte after so many others; of one that is farther
  /// behind it takes over the rest.
  public var joinBytes = 262_144
  /// What a reader is handed at once.
  public var readBytes = 262_144
  /// How often a request that brought nothing is made again before its reader is told.
  public var retries = 4
  /// The wait before the first time; doubled each time, up to `longestRetryMilliseconds`.
  public var retryMilliseconds = 200
  /// No wait is longer; where the server asks for a longer one, the reader is told at once.
  public var longestRetryMilliseconds = 10_000
  /// How long to wait for the head of an answer, and for more of its body.
  public var timeoutMilliseconds = 20_000

  /// The usual limits.
  public init() {}
}
