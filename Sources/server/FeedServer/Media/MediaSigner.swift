import HTTP
import SHA2
import System

/// Signs URLs of media files, and looks whether a signature is one of ours.
///
/// A signature is the first half of an HMAC-SHA-256 (RFC 2104, whose section 5 allows that), as 32 hexadecimal
/// digits. It covers the file's path, its version where the URL names one, and the second at which the URL
/// expires; neither the method nor how the path is percent-encoded, which proxies change.
struct MediaSigner: Sendable {
  /// The first one signs, all are taken: so that keys can be exchanged while pages are out.
  private let keys: [[UInt8]]
  /// How long a URL holds at the least from when it is handed out.
  let leastSeconds: Int
  /// URLs that are handed out within the same step of this many seconds expire together, so that pages stay the
  /// same for that long.
  let stepSeconds: Int
  /// The clock: seconds since 1970.
  private let now: @Sendable () -> Int

  /// A clock that is further on stands still here, in the year 9987: so that what is added to it is a time that
  /// RFC 3339 can write.
  private static let latestSecond = 253_000_000_000

  /// - Parameter keys: at least one; none of them is empty.
  init(
    keys: [[UInt8]], leastSeconds: Int, stepSeconds: Int,
    now: @escaping @Sendable () -> Int = { WallClock.secondsSince1970 }
  ) {
    precondition(!keys.isEmpty && keys.allSatisfy { !$0.isEmpty } && stepSeconds > 0)
    self.keys = keys
    self.leastSeconds = leastSeconds
    self.stepSeconds = stepSeconds
    self.now = now
  }

  /// The second since 1970 at which a URL expires that is handed out now: within the step that begins after
  /// `leastSeconds`.
  var expiry: Int {
    Self.expiry(now: now(), leastSeconds: leastSeconds, stepSeconds: stepSeconds)
  }

  /// The same by another clock.
  static func expiry(now: Int, leastSeconds: Int, stepSeconds: Int) -> Int {
    let now = min(max(0, now), latestSecond)
    return (now / stepSeconds + 1) * stepSeconds + leastSeconds
  }

  /// The query of a URL of the file, signed: `version=…&expires=…&signature=…`.
  func query(of segments: [String], _ version: ContentAddress?, expires: Int) -> String {
    (version.map { "version=\($0.text)&" } ?? "")
      + "expires=\(expires)&signature="
      + Self.signature(of: segments, version, expires: expires, with: keys[0])
  }

  /// How many seconds the URL of the file with this query still holds, 1 or more.
  ///
  /// - Throws: `Problem` 403 if it is unsigned, signed with another key, or expired.
  func secondsLeft(of query: MediaQuery, _ segments: [String]) throws -> Int {
    guard let expires = query.expires, let signature = query.signature else {
      throw Problem(
        .missingSignature, .forbidden,
        "The server requires signed URLs: use the one in the item.")
    }
    // Every key is tried, so that the time says nothing of which it was.
    var isOurs = false
    for key in keys {
      let expected = Self.signature(of: segments, query.version, expires: expires, with: key)
      isOurs = Bearer.matches(signature, expected) || isOurs
    }
    guard isOurs else {
      throw Problem(
        .wrongSignature, .forbidden, "The signature does not match this URL.")
    }
    let now = max(0, now())
    guard expires > now else {
      throw Problem(
        .expiredURL, .forbidden,
        "The URL expired at \(expires): use the current one in the item.")
    }
    return expires - now
  }

  private static func signature(
    of segments: [String], _ version: ContentAddress?, expires: Int, with key: [UInt8]
  ) -> String {
    // The path last: a name may hold a line feed, and the others none.
    let text =
      "lookahead-media-1\n\(expires)\n\(version?.text ?? "")\n"
      + segments.joined(separator: "/")
    return ContentAddress(
      sha256: SHA256.authenticationCode(for: Array(text.utf8), key: key)
    ).text
  }
}
