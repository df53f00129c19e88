import HTTP
import System

/// Who may write: whoever has one of the tokens (RFC 6750). They can be exchanged while requests come.
final class WriteAccess: Sendable {
  /// Without any: nobody.
  private let tokens: Monitor<[WriteToken]>

  init(_ tokens: [WriteToken]) { self.tokens = Monitor(tokens) }

  /// From now on these count and no others.
  func replace(_ tokens: [WriteToken]) { self.tokens.withLock { $0 = tokens } }

  /// Whose token the request presents.
  ///
  /// - Throws: `Problem` 403 where writes are off, 401 without a token of this server's.
  func writer(_ fields: Fields) throws -> WriteToken {
    let tokens = tokens.withLock { $0 }
    guard !tokens.isEmpty else {
      throw Problem(
        .writesOff, .forbidden, "Writes are off: the server was started without a token for them.")
    }
    guard let presented = Bearer.credentials(fields) else {
      var problem = Problem(
        .unauthorized, .unauthorized, "Writing needs the field Authorization: Bearer TOKEN.")
      problem.fields.append("WWW-Authenticate", WriteToken.challenge)
      throw problem
    }
    // All are compared, so that the time says nothing of which one it was.
    var found: WriteToken?
    for token in tokens where Bearer.matches(presented, token.secret) { found = token }
    guard let found else {
      var problem = Problem(.unauthorized, .unauthorized, "The token is not the server's.")
      problem.fields.append(
        "WWW-Authenticate", WriteToken.challenge + ", error=\"invalid_token\"")
      throw problem
    }
    return found
  }
}
