/// What a client calls a request that it may have to send again, so that it counts once.
public struct IdempotencyKey: Sendable, Hashable {
  /// The client's own name for the request; not empty.
  public let text: String
  /// What the request asked for: the same key with another fingerprint is refused. Whoever makes the
  /// key makes this, and keeps both short.
  public let fingerprint: String

  /// The key of a request that asked for this.
  public init(_ text: String, fingerprint: String) {
    precondition(!text.isEmpty, "a key has a text")
    self.text = text
    self.fingerprint = fingerprint
  }
}
