/// How requests go over a link, beside what the link itself is like.
public struct LinkSettings: Hashable, Sendable {
  /// How many connections there are at once; of more requests, the most urgent go first.
  public var connections = 6
  /// How many requests one connection carries at once: 1 as in HTTP/1.1, more as in HTTP/2.
  public var requestsPerConnection = 1
  /// Round trips before a new connection carries a request: one of TCP (RFC 9293 section 3.5), one of TLS 1.3
  /// (RFC 8446 section 2).
  public var setupRoundTrips = 2
  /// What a request has on the way up.
  public var requestBytes = 500
  /// What an answer has before its body.
  public var responseHeadBytes = 400
  /// How long the server thinks before it answers.
  public var thinkMilliseconds = 5
  /// What a packet carries.
  public var packetBytes = 1_460
  /// How many packets a connection sends before it has heard anything (RFC 6928).
  public var initialWindowPackets = 10
  /// After how long without traffic a connection begins again so (RFC 5681 section 4.1).
  public var idleRestartMilliseconds = 1_000
  /// After how long without traffic it ends.
  public var keepAliveMilliseconds = 60_000
  /// After how long without a byte a request is given up: the client library's (`RangeStoreLimits`).
  public var timeoutMilliseconds = 20_000
  /// Whether what a cancelled request has under way still comes, for a round trip, and takes its share of the
  /// link: bytes that nobody keeps.
  public var bringsWhatWasCancelled = true
  /// Whether a lost packet also halves what is under way at once (RFC 5681 section 3.1), or costs time alone.
  public var halvesWindow = true

  /// HTTP/1.1 over TLS with six connections, as browsers have it.
  public init() {}

  /// One connection for all requests.
  public static var multiplexed: LinkSettings {
    var settings = LinkSettings()
    settings.connections = 1
    settings.requestsPerConnection = 100
    return settings
  }
}
