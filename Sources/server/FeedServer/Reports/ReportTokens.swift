import HTTP
import HTTPServer
import SHA2

/// What pages hand out for reports, in fields that `ETag` does not cover.
struct PageHandouts: Sendable {
  /// The field with the number of sessions of a thousand that are asked to share a recording.
  static let shareField = "Record-Share"

  private let tokens: ReportTokens?
  private let recordPermille: Int

  /// `nil` if there is nothing to hand out.
  init?(_ tokens: ReportTokens?, recordPermille: Int) {
    guard tokens != nil || recordPermille > 0 else { return nil }
    (self.tokens, self.recordPermille) = (tokens, recordPermille)
  }

  /// The answer with the fields that its page hands out.
  func handing(_ response: consuming Response, feed: String) -> Response {
    if let tokens {
      response.fields.append(ReportTokens.field, tokens.token(feed: feed))
      response.fields.append("Access-Control-Expose-Headers", ReportTokens.field)
    }
    if recordPermille > 0 {
      response.fields.append(Self.shareField, "\(recordPermille)")
      response.fields.append("Access-Control-Expose-Headers", Self.shareField)
    }
    return response
  }
}

/// Makes the tokens that pages hand out and reports carry, and verifies tokens.
///
/// A token proves that its bearer received a page of the feed, and says until when that counts. It is
/// `EXPIRY.CODE`: a second since 1970, and the first half of an HMAC-SHA-256 (RFC 2104, whose section 5
/// allows that) of it and the feed's name, as 32 hexadecimal digits. The server stores nothing about it, and
/// nothing in it tells one client from another: caches may send the same page with the same token to many
/// clients.
struct ReportTokens: Sendable {
  /// The field of pages with the token.
  static let field = "Report-Token"

  /// The first key signs, all keys verify, so that operators can exchange keys while clients have pages.
  private let keys: [[UInt8]]
  private let seconds: Int
  private let now: @Sendable () -> Int

  /// - Parameters:
  ///   - keys: at least one; none of them is empty.
  ///   - seconds: the time for which a token is valid.
  ///   - now: a clock in seconds since 1970.
  init(keys: [[UInt8]], seconds: Int, now: @escaping @Sendable () -> Int) {
    precondition(!keys.isEmpty && keys.allSatisfy { !$0.isEmpty })
    (self.keys, self.seconds, self.now) = (keys, seconds, now)
  }

  /// A token for the feed, as of now.
  func token(feed: String) -> String {
    let expiry = max(0, now()) + seconds
    return "\(expiry).\(Self.code(feed, expiry, keys[0]))"
  }

  /// - Throws: `Problem` 403, which names the session, if the token is invalid, another feed's, or expired.
  func check(_ token: String?, feed: String, session: String) throws(Problem) {
    guard let token else { throw Self.refused(session, "has no token") }
    let parts = token.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let expiry = Int(digits: parts[0]) else {
      throw Self.refused(session, "has a malformed token")
    }
    // Tries every key, so that the time does not reveal which one matched.
    var isOurs = false
    for key in keys {
      isOurs = Bearer.matches(String(parts[1]), Self.code(feed, expiry, key)) || isOurs
    }
    guard isOurs else {
      throw Self.refused(session, "has a token that is not valid for the feed \"\(feed)\"")
    }
    guard expiry > now() else { throw Self.refused(session, "has an expired token") }
  }

  private static func refused(_ session: String, _ words: String) -> Problem {
    Problem(
      .wrongReportToken, .forbidden,
      "The report of the session \"\(session)\" \(words): request a page of the feed, and send "
        + "the report again with the token in its field \(field).")
  }

  private static func code(_ feed: String, _ expiry: Int, _ key: [UInt8]) -> String {
    // The name comes last: it may contain a line feed, the expiry cannot.
    let text = "lookahead-report-1\n\(expiry)\n\(feed)"
    return ContentAddress(
      sha256: SHA256.authenticationCode(for: Array(text.utf8), key: key)
    ).text
  }
}
