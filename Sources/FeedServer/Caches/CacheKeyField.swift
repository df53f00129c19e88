import HTTP

/// The field in which answers have their keys, and purges name them.
public struct CacheKeyField: Equatable, Sendable {
  /// Its name.
  public let name: String
  /// What stands between two keys: `Cache-Tag` and `Edge-Cache-Tag` are lists with commas, all others have spaces.
  let separator: String

  /// What Fastly reads, and docker/varnish.vcl.
  public static let surrogateKey = CacheKeyField("Surrogate-Key", separator: " ")

  /// Names as long as this are no names.
  private static let nameBytes = 1...64
  /// Answers have these with another meaning.
  private static let taken = [
    "accept-ranges", "access-control-allow-origin", "access-control-expose-headers", "age", "allow",
    "cache-control", "connection", "content-encoding", "content-length", "content-location",
    "content-range", "content-security-policy", "content-type", "cross-origin-opener-policy",
    "date", "etag", "expires", "host", "last-modified", "link", "location", "referrer-policy",
    "retry-after", "server", "server-timing", "set-cookie", "trailer", "transfer-encoding",
    "upgrade", "user-agent", "vary", "x-content-type-options", "x-request-id",
  ]

  private init(_ name: String, separator: String) {
    self.name = name
    self.separator = separator
  }

  /// The field of this name; nil where it is none that keys can have.
  public init?(name: String) {
    let lowercased = name.lowercased()
    guard Self.nameBytes.contains(name.utf8.count), name.utf8.allSatisfy(\.isTokenCharacter),
      !Self.taken.contains(lowercased)
    else { return nil }
    let isTag = ["cache-tag", "edge-cache-tag"].contains(lowercased)
    self.init(name, separator: isTag ? "," : " ")
  }

  /// The keys as one value.
  func value(_ keys: [String]) -> String { keys.joined(separator: separator) }
}
