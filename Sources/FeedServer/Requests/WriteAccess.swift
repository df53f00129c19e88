import HTTP

/// Who may write: whoever has the token (RFC 6750).
struct WriteAccess: Sendable {
  /// `nil`: nobody.
  let token: String?

  /// - Throws: `Problem` 403 where writes are off, 401 without the token.
  func check(_ fields: Fields) throws {
    guard let token else {
      throw Problem(
        .writesOff, .forbidden, "Writes are off: the server was started without a token for them.")
    }
    guard let presented = Bearer.credentials(fields) else {
      var problem = Problem(
        .unauthorized, .unauthorized, "Writing needs the field Authorization: Bearer TOKEN.")
      problem.fields.append("WWW-Authenticate", Self.challenge)
      throw problem
    }
    guard Bearer.matches(presented, token) else {
      var problem = Problem(.unauthorized, .unauthorized, "The token is not the server's.")
      problem.fields.append("WWW-Authenticate", Self.challenge + ", error=\"invalid_token\"")
      throw problem
    }
  }

  private static let challenge = "Bearer realm=\"lookahead\""
}
