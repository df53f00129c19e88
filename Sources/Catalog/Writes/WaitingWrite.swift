import Feed

/// A write that was taken, and whom to tell.
public enum WaitingWrite: Sendable {
  case item(ItemWrite, @Sendable (Result<ItemOutcome, any Error>) -> Void)
  case feed(FeedWrite, @Sendable (Result<FeedOutcome, any Error>) -> Void)

  /// How a write ended, to be told once all of its group are durable.
  public typealias Telling = @Sendable () -> Void

  /// Tells that nothing of it was done.
  public func fail(_ error: any Error) {
    switch self {
    case .item(_, let completion): completion(.failure(error))
    case .feed(_, let completion): completion(.failure(error))
    }
  }
}
