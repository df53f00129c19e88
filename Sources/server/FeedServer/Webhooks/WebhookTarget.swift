import HTTP
import MediaProbe
import PostJSON
import SHA2

/// The target of a webhook, with the secrets that sign its messages.
package struct WebhookTarget: Sendable, Hashable {
  /// Its name in settings, figures and the database.
  package let name: String
  /// The URL to which messages are sent.
  package let post: RemotePost
  /// One secret, or the new one and the previous one, each of which signs.
  let secrets: [[UInt8]]
  /// The maximum number of changes in a message.
  package var batch = 100

  /// The values of `webhook-id`, `webhook-timestamp` and `webhook-signature`
  /// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md): an HMAC-SHA256 of
  /// all three for each secret.
  func fields(id: String, timestamp: Int, body: [UInt8]) -> [String] {
    let signed = Array("\(id).\(timestamp).".utf8) + body
    let signatures = secrets.map { secret in
      let code = SHA256.authenticationCode(for: signed, key: secret)
      return "v1," + String(decoding: Base64.encode(code), as: UTF8.self)
    }
    return [
      "webhook-id: \(id)", "webhook-timestamp: \(timestamp)",
      "webhook-signature: \(signatures.joined(separator: " "))",
    ]
  }
}

/// An error in a file of webhooks, with the number of the line, from 1.
package struct WebhookFileError: Error, Hashable, CustomStringConvertible {
  /// The line; `nil` for the file as a whole.
  package let line: Int?
  /// A clause, which quotes no secret.
  package let problem: String

  /// `line 3: …`
  package var description: String { line.map { "line \($0): \(problem)" } ?? problem }
}

/// A file of webhooks: lines with a name, a URL, one or two secrets, and optionally the maximum number of
/// changes in a message.
///
/// ```
/// # name   URL                                  secrets, the new one first
/// search   https://search.example/changed      whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
/// mirror   https://mirror.example/hook?a=1     whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD whsec_Zm9v…  batch=500
/// ```
package enum WebhookFile {
  /// The maximum number of targets: each has a thread.
  package static let maximumTargets = 32
  /// The allowed numbers of changes in a message.
  package static let batches = 1...1_000
  /// The allowed sizes of a secret.
  private static let secretBytes = 24...64
  private static let prefix = "whsec_"

  private struct Refusal: Error {
    let problem: String
    init(_ problem: String) { self.problem = problem }
  }

  /// The targets in a file's text, at least one.
  ///
  /// - Throws: `WebhookFileError`.
  package static func targets(
    in text: String, allowsPrivateAddresses: Bool
  ) throws(WebhookFileError) -> [WebhookTarget] {
    var targets: [WebhookTarget] = []
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      let words = line.split(whereSeparator: \.isWhitespace)
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      do throws(Refusal) {
        let target = try target(words, allowsPrivateAddresses)
        if targets.contains(where: { $0.name == target.name }) {
          throw Refusal("a webhook \"\(target.name)\" is already defined above")
        }
        targets.append(target)
        if targets.count > maximumTargets {
          throw Refusal("there are more than \(maximumTargets) webhooks")
        }
      } catch {
        throw WebhookFileError(line: index + 1, problem: error.problem)
      }
    }
    guard !targets.isEmpty else {
      throw WebhookFileError(line: nil, problem: "the file has no webhook")
    }
    return targets
  }

  private static func target(
    _ words: [Substring], _ allowsPrivateAddresses: Bool
  ) throws(Refusal) -> WebhookTarget {
    guard words.count >= 3 else { throw Refusal("expected a name, a URL and a secret") }
    guard words[0].wholeMatch(of: /[A-Za-z0-9._-]{1,64}/) != nil else {
      throw Refusal("the name must be 1 to 64 of the characters A-Z a-z 0-9 . _ -")
    }
    let post: RemotePost
    do throws(RemoteError) {
      post = try RemotePost(String(words[1]), allowsPrivateAddresses: allowsPrivateAddresses)
    } catch {
      if case .privateAddress = error {
        throw Refusal("the URL's address is private: --webhook-allow-private allows that")
      }
      throw Refusal("the URL cannot be used: \(error)")
    }
    var secrets: [[UInt8]] = []
    var batch: Int?
    for word in words[2...] {
      if word.hasPrefix("batch="), batch == nil {
        guard let number = Int(digits: word.dropFirst("batch=".count)), batches.contains(number)
        else {
          throw Refusal("batch is not a number from \(batches.lowerBound) to \(batches.upperBound)")
        }
        batch = number
        continue
      }
      guard word.hasPrefix(prefix),
        let secret = Base64.decode(String(word.dropFirst(prefix.count))),
        secretBytes.contains(secret.count)
      else {
        throw Refusal(
          "a secret must be \(prefix) and \(secretBytes.lowerBound) to "
            + "\(secretBytes.upperBound) bytes in base64: "
            + "`echo whsec_$(openssl rand -base64 32)` makes one")
      }
      secrets.append(secret)
    }
    guard (1...2).contains(secrets.count) else {
      throw Refusal(
        "it has \(secrets.count) secrets; expected one, or two while one replaces the other")
    }
    var target = WebhookTarget(name: String(words[0]), post: post, secrets: secrets)
    if let batch { target.batch = batch }
    return target
  }
}
