import Synchronization

/// Tells long work that it is cancelled. The work checks it now and then.
public final class Cancellation: Sendable, Hashable {
  private let flag = Atomic<Bool>(false)

  /// A token that is not cancelled.
  public init() {}

  /// Whether the work is cancelled.
  public var isCancelled: Bool { flag.load(ordering: .relaxed) }

  /// Cancels the work, permanently.
  public func cancel() { flag.store(true, ordering: .relaxed) }

  /// Whether both are the same token.
  public static func == (left: Cancellation, right: Cancellation) -> Bool { left === right }

  /// Hashes the identity of the token.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
