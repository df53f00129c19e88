import HTTP
import SHA2
import System

/// Signs URLs of media files, and verifies signatures.
///
/// A signature is the first half of an HMAC-SHA-256 (RFC 2104, whose section 5 allows that), as 32
/// hexadecimal digits. It covers the file's path, its version if the URL names one, and the second at which
/// the URL expires. It covers neither the method nor the percent-encoding of the path, which proxies change.
struct MediaSigner: Sendable {
  /// The first key signs, all keys verify, so that operators can exchange keys while clients have pages.
  private let keys: [[UInt8]]
  /// The minimum time from handing out a URL to its expiry.
  let leastSeconds: Int
  /// The length of a step: URLs handed out within the same step expire together, so that pages stay the same
  /// for that long.
  let stepSeconds: Int
  /// The clock: seconds since 1970.
  private let now: @Sendable () -> Int

  /// The last second of the clock, in the year 9987: sums with a later time could exceed what RFC 3339 can
  /// represent.
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

  /// The second since 1970 at which a URL handed out now expires: `leastSeconds` after the end of the current
  /// step.
  var expiry: Int {
    Self.expiry(now: now(), leastSeconds: leastSeconds, stepSeconds: stepSeconds)
  }

  /// The expiry by another clock.
  static func expiry(now: Int, leastSeconds: Int, stepSeconds: Int) -> Int {
    let now = min(max(0, now), latestSecond)
    return (now / stepSeconds + 1) * stepSeconds + leastSeconds
  }

  /// The signed query of a URL of the file: `version=…&expires=…&signature=…`.
  func query(of segments: [String], _ version: ContentAddress?, expires: Int) -> String {
    (version.map { "version=\($0.text)&" } ?? "")
      + "expires=\(expires)&signature="
      + Self.signature(of: segments, version, expires: expires, with: keys[0])
  }

  /// The seconds until the URL of the file with this query expires, 1 or more.
  ///
  /// - Throws: `Problem` 403 if it is unsigned, signed with another key, or expired.
  func secondsLeft(of query: MediaQuery, _ segments: [String]) throws -> Int {
    guard let expires = query.expires, let signature = query.signature else {
      throw Problem(
        .missingSignature, .forbidden,
        "The server requires signed URLs: use the one in the item.")
    }
    // Tries every key, so that the time does not reveal which one matched.
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
    // The path comes last: a name may contain a line feed, the other parts cannot.
    let text =
      "lookahead-media-1\n\(expires)\n\(version?.text ?? "")\n"
      + segments.joined(separator: "/")
    return ContentAddress(
      sha256: SHA256.authenticationCode(for: Array(text.utf8), key: key)
    ).text
  }
}
