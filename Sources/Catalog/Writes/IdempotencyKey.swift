/// What a client calls a request that it may have to send again, so that it counts once.
public struct IdempotencyKey: Sendable, Hashable {
  /// The client's own name for the request; not empty.
  public let text: String
  /// Whose key it is, the name of a token: two clients that number their requests 1, 2, 3 do not share them.
  public let owner: String
  /// What the request asked for: the same key with another fingerprint is refused. Whoever makes the
  /// key makes this, and keeps both short.
  public let fingerprint: String

  /// The key of a request that asked for this.
  ///
  /// - Parameter owner: not empty, without a space.
  public init(_ text: String, of owner: String, fingerprint: String) {
    precondition(!text.isEmpty, "a key has a text")
    precondition(!owner.isEmpty && !owner.utf8.contains(UInt8(ascii: " ")), "a key has an owner")
    self.text = text
    self.owner = owner
    self.fingerprint = fingerprint
  }

  /// What a store keeps it by: the owner, a space, the text. Before version 0.2 it was the text alone, in which
  /// there is no space.
  public var storedText: String { "\(owner) \(text)" }
}
