/// What a link holds at most.
public struct LinkLimits: Sendable, Hashable {
  /// Connections at once; more wait until one ends.
  public var connections = 256
  /// As long as less than this waits of one connection in one direction, it is read from: 16 KB at once.
  public var sendBufferBytes = 131_072
  /// What one connection may have under way, or arrived and not taken, in one direction.
  public var receiveWindowBytes = 1_048_576
  /// Round trips before a new connection's first byte leaves: one is TCP's, a second TLS 1.3's.
  public var setUpRoundTrips = 1

  /// The usual ones.
  public init() {}
}
