import Synchronization

/// Tells long work that it is cancelled. The work checks it now and then.
public final class Cancellation: Sendable, Hashable {
  private let flag = Atomic<Bool>(false)

  /// What is still wanted.
  public init() {}

  /// Whether it is given up.
  public var isCancelled: Bool { flag.load(ordering: .relaxed) }

  /// Gives it up, for good.
  public func cancel() { flag.store(true, ordering: .relaxed) }

  /// Whether it is the same one.
  public static func == (left: Cancellation, right: Cancellation) -> Bool { left === right }

  /// As `==` compares them.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
