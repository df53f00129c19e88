/// An address in an object store: `s3://bucket/prefix`.
package struct ObjectAddress: Sendable, Hashable, CustomStringConvertible {
  /// The beginning of such an address.
  package static let scheme = "s3://"

  /// The bucket's name.
  package let bucket: String
  /// The beginning of the objects' keys: empty, or ends with a slash.
  package let prefix: String

  /// Whether a text begins with the scheme.
  package static func isOne(_ text: String) -> Bool { text.hasPrefix(scheme) }

  /// Parses an address.
  ///
  /// - Throws: `ObjectStoreError.notAnAddress`.
  package init(_ text: String) throws(ObjectStoreError) {
    guard Self.isOne(text) else { throw .notAnAddress(text) }
    // Compares bytes: to Swift, a slash with a combining accent behind it is one character.
    let slash = UInt8(ascii: "/")
    let parts = text.utf8.dropFirst(Self.scheme.utf8.count).split(
      separator: slash, maxSplits: 1, omittingEmptySubsequences: false
    ).map { Substring($0) }
    // https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
    guard let bucket = parts.first, (3...63).contains(bucket.utf8.count),
      bucket.utf8.allSatisfy({
        (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) || $0 == 0x2d || $0 == 0x2e
      })
    else { throw .notAnAddress(text) }
    self.bucket = String(bucket)
    var prefix = parts.count > 1 ? String(parts[1]) : ""
    guard !prefix.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }),
      !prefix.utf8.split(separator: slash, omittingEmptySubsequences: false).dropLast().contains(
        where: { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) })
    else { throw .notAnAddress(text) }
    if let last = prefix.utf8.last, last != slash { prefix += "/" }
    self.prefix = prefix
  }

  /// The part of an object's address before its key.
  package var bucketAddress: String { "\(Self.scheme)\(bucket)/" }

  /// The address.
  package var description: String { "\(Self.scheme)\(bucket)/\(prefix)" }
}

/// An error of an object store.
package enum ObjectStoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text is not an address.
  case notAnAddress(String)
  /// An environment variable is missing or invalid.
  case setting(String)
  /// The request failed; the value is a clause.
  case failed(String)
  /// The store refused the request, with this status, code and message.
  case refused(status: Int, code: String, message: String)
  /// The number of bytes differs from the expected one.
  case otherLength(key: String, expected: Int, found: Int)
  /// The store's answer is malformed; the value is a clause.
  case noAnswer(String)
  /// The precondition of the request failed: another writer changed the object meanwhile.
  case preconditionFailed
  /// The object was replaced while it was read.
  case changed
  /// The request was cancelled.
  case cancelled

  /// Whether the request may succeed soon: the store is unreachable or overloaded.
  package var isPassing: Bool {
    switch self {
    case .failed, .cancelled, .changed: true
    case .refused(let status, _, _): status >= 500 || status == 429
    case .notAnAddress, .setting, .otherLength, .noAnswer, .preconditionFailed: false
    }
  }

  /// The error as a clause.
  package var description: String {
    switch self {
    case .notAnAddress(let text):
      "\(text) is not the address of a bucket, such as s3://bucket/prefix"
    case .setting(let words): words
    case .failed(let words): "the request to the object store failed: \(words)"
    case .refused(let status, let code, let message):
      "the object store refused the request: "
        + "\(status)\(code.isEmpty ? "" : " \(code)")\(message.isEmpty ? "" : ", \(message)")"
        + (Self.advice(code).map { " (\($0))" } ?? "")
    case .otherLength(let key, let expected, let found):
      "\(key) has \(found) bytes, not \(expected)"
    case .noAnswer(let words): "the object store's answer is malformed: \(words)"
    case .preconditionFailed: "the object was changed meanwhile"
    case .changed: "the object was replaced while it was read"
    case .cancelled: "it was cancelled"
    }
  }

  /// The setting to check if the store refuses a request with this code
  /// (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html).
  private static func advice(_ code: String) -> String? {
    switch code {
    case "SignatureDoesNotMatch": "AWS_SECRET_ACCESS_KEY does not match AWS_ACCESS_KEY_ID"
    case "InvalidAccessKeyId": "AWS_ACCESS_KEY_ID is unknown to the store"
    case "InvalidToken", "ExpiredToken": "AWS_SESSION_TOKEN is invalid or expired"
    case "RequestTimeTooSkewed": "this machine's clock differs from the store's"
    case "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect":
      "AWS_REGION or AWS_ENDPOINT_URL does not match the bucket"
    default: nil
    }
  }
}
