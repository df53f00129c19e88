import Feed
import HTTP

/// An error in a file of tokens, with the number of the line, from 1.
package struct WriteTokenFileError: Error, Hashable, CustomStringConvertible {
  /// The line; `nil` for the file as a whole.
  package let line: Int?
  /// The problem, as a clause.
  package let problem: String

  /// `line 3: …`
  package var description: String { line.map { "line \($0): \(problem)" } ?? problem }
}

/// A file of tokens: a single token with all rights, or lines with a name, a token and rights.
///
/// ```
/// # name   token                             rights
/// editors  0f8a7c51d2e94b6f8c3f7d40a6b1e7aa  everything
/// sports   5b1c0a4f6f7e4d5c9d21c2f3e8b7a901  feed:sports feed:sports%2Flive
/// apps     c41d5e2b9c4a4d0c8a1be5c0f6d2b383  counters
/// camera   7d0e2f5ab8914c6ea3d2b1f09c5e4a86  media feed:camera
/// ```
package enum WriteTokenFile {
  /// The maximum number of tokens of a server: each write is compared with all of them.
  package static let maximumTokens = 1000

  /// The tokens in a file's text, at least one.
  ///
  /// - Throws: `WriteTokenFileError`, which quotes no token.
  package static func tokens(in text: String) throws(WriteTokenFileError) -> [WriteToken] {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    var tokens: [WriteToken] = []
    let words = lines.map { $0.split(whereSeparator: \.isWhitespace) }
    if words.joined().count == 1, let only = words.joined().first {
      guard isToken(only) else { throw WriteTokenFileError(line: nil, problem: tokenRule) }
      return .only(String(only))
    }
    for (index, words) in words.enumerated() where !(words.first?.hasPrefix("#") ?? true) {
      do throws(Refusal) {
        let token = try token(words)
        if tokens.contains(where: { $0.name == token.name }) {
          throw Refusal("a token \"\(token.name)\" is already defined above")
        }
        if let other = tokens.first(where: { $0.secret == token.secret }) {
          throw Refusal("the token is the same as that of \"\(other.name)\"")
        }
        tokens.append(token)
        if tokens.count > maximumTokens {
          throw Refusal("there are more than \(maximumTokens) tokens")
        }
      } catch {
        throw WriteTokenFileError(line: index + 1, problem: error.problem)
      }
    }
    guard !tokens.isEmpty else {
      throw WriteTokenFileError(line: nil, problem: "the file has no token")
    }
    return tokens
  }

  private struct Refusal: Error {
    let problem: String
    init(_ problem: String) { self.problem = problem }
  }

  private static func token(_ words: [Substring]) throws(Refusal) -> WriteToken {
    guard words.count >= 3 else { throw Refusal("expected a name, a token and rights") }
    guard words[0].wholeMatch(of: /[A-Za-z0-9._-]{1,64}/) != nil else {
      throw Refusal("the name must be 1 to 64 of the characters A-Z a-z 0-9 . _ -")
    }
    guard isToken(words[1]) else { throw Refusal(tokenRule) }
    var rights = WriteToken.Rights()
    for word in words[2...] {
      switch word {
      case "everything": rights.everything = true
      case "counters": rights.counters = true
      case "media": rights.media = true
      case "policies": rights.policies = true
      case "changes": rights.changes = true
      case _ where word.hasPrefix("feed:"):
        guard let name = try? PercentEncoding.decode(word.dropFirst("feed:".count)),
          !name.isEmpty
        else { throw Refusal("\(word) names no feed: expected feed: and a percent-encoded name") }
        rights.feeds.insert(name)
      default:
        throw Refusal(
          "\(word.prefix(40)) is not a right: everything, counters, media, policies, changes, "
            + "feed:NAME"
        )
      }
    }
    return WriteToken(name: String(words[0]), secret: String(words[1]), rights: rights)
  }

  private static let tokenRule =
    "a token must be of the characters A-Z a-z 0-9 . _ ~ + / -, with = only at its end"

  /// RFC 6750 section 2.1: b64token.
  private static func isToken(_ text: Substring) -> Bool {
    text.wholeMatch(of: /[A-Za-z0-9._~+\/-]+=*/) != nil
  }
}
