import HTTP
import HTTPServer
import SHA2

/// What pages hand out for reports, in fields that are no part of what `ETag` is of.
struct PageHandouts: Sendable {
  /// The field that has how many sessions of a thousand are asked to share what they were.
  static let shareField = "Record-Share"

  private let tokens: ReportTokens?
  private let recordPermille: Int

  /// Nil where there is nothing to hand out.
  init?(_ tokens: ReportTokens?, recordPermille: Int) {
    guard tokens != nil || recordPermille > 0 else { return nil }
    (self.tokens, self.recordPermille) = (tokens, recordPermille)
  }

  /// The answer with what its page hands out.
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

/// Makes the tokens that pages hand out and reports carry, and looks whether a token is one of ours.
///
/// A token says that its bearer was given a page of the feed, and until when that counts. It is
/// `EXPIRY.CODE`: a second since 1970, and the first half of an HMAC-SHA-256 (RFC 2104, whose section 5 allows that) of
/// it and the feed's name, as 32 hexadecimal digits. The server keeps nothing of it, and nothing in it tells one client
/// from another: caches may hand the same page with the same token to many.
struct ReportTokens: Sendable {
  /// The field of pages that has the token.
  static let field = "Report-Token"

  /// The first one signs, all are taken: so that keys can be exchanged while pages are out.
  private let keys: [[UInt8]]
  private let seconds: Int
  private let now: @Sendable () -> Int

  /// - Parameters:
  ///   - keys: at least one; none of them is empty.
  ///   - seconds: how long a token holds.
  ///   - now: the clock: seconds since 1970.
  init(keys: [[UInt8]], seconds: Int, now: @escaping @Sendable () -> Int) {
    precondition(!keys.isEmpty && keys.allSatisfy { !$0.isEmpty })
    (self.keys, self.seconds, self.now) = (keys, seconds, now)
  }

  /// A token for the feed, as of now.
  func token(feed: String) -> String {
    let expiry = max(0, now()) + seconds
    return "\(expiry).\(Self.code(feed, expiry, keys[0]))"
  }

  /// - Throws: `Problem` 403, which names the session, where the token is invalid, another feed's, or expired.
  func check(_ token: String?, feed: String, session: String) throws(Problem) {
    guard let token else { throw Self.refused(session, "has no token") }
    let parts = token.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let expiry = Int(digits: parts[0]) else {
      throw Self.refused(session, "has a malformed token")
    }
    // Every key is tried, so that the time says nothing of which it was.
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
    // The name last: it may hold a line feed, and the expiry none.
    let text = "lookahead-report-1\n\(expiry)\n\(feed)"
    return ContentAddress(
      sha256: SHA256.authenticationCode(for: Array(text.utf8), key: key)
    ).text
  }
}
