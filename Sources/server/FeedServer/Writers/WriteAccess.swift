import HTTP
import System

/// Decides who may write: clients with one of the tokens (RFC 6750). The tokens can be replaced at run time.
final class WriteAccess: Sendable {
  /// Without any token, no client may write.
  private let tokens: Monitor<[WriteToken]>

  init(_ tokens: [WriteToken]) { self.tokens = Monitor(tokens) }

  /// Accepts only these tokens from now on.
  func replace(_ tokens: [WriteToken]) { self.tokens.withLock { $0 = tokens } }

  /// The token that the request presents: `Problem` 403 if writes are off, 401 without a valid token.
  func writer(_ fields: Fields) -> Result<WriteToken, Problem> {
    let tokens = tokens.withLock { $0 }
    guard !tokens.isEmpty else {
      return .failure(
        Problem(
          .writesOff, .forbidden,
          "Writes are off: the server was started without a token for them (--write-token-file)."))
    }
    guard let presented = Bearer.credentials(fields) else {
      return .failure(
        Self.unauthorized(
          "Writing requires the header field Authorization: Bearer TOKEN.", error: nil))
    }
    // Compares all tokens, so that the time does not reveal which one matched.
    var found: WriteToken?
    for token in tokens where Bearer.matches(presented, token.secret) { found = token }
    guard let found else {
      return .failure(Self.unauthorized("The token is not valid.", error: "invalid_token"))
    }
    return .success(found)
  }

  /// - Parameter error: RFC 6750 section 3.1.
  private static func unauthorized(_ words: String, error: String?) -> Problem {
    var problem = Problem(.unauthorized, .unauthorized, words)
    problem.fields.append(
      "WWW-Authenticate", WriteToken.challenge + (error.map { ", error=\"\($0)\"" } ?? ""))
    return problem
  }
}
