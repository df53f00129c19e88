import CLinux

/// What a descriptor is watched for, and what it is ready for.
public struct Interest: OptionSet, Sendable, Hashable {
  /// The bits, as `epoll_ctl(2)` has them.
  public let rawValue: UInt32

  /// From the bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// There is something to read, or the end, or a connection to accept.
  public static let readable = Interest(rawValue: lookahead_epoll_in)
  /// There is room to write.
  public static let writable = Interest(rawValue: lookahead_epoll_out)
  /// Both directions are closed, or there is an error; always watched for.
  public static let hangup = Interest(rawValue: lookahead_epoll_hangup)
}

/// Whatever is behind a descriptor at an event loop. Called on the loop's thread only.
public protocol EventHandler: AnyObject {
  /// The descriptor is ready, as the loop's level-triggered watch found it.
  func ready(for readiness: Interest)
  /// The deadline has passed that `EventLoop.setDeadline` set last.
  func deadlinePassed()
}
