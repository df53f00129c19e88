/// Where objects lie: `s3://bucket/prefix`.
package struct ObjectAddress: Sendable, Hashable, CustomStringConvertible {
  /// What such an address begins with.
  package static let scheme = "s3://"

  /// The bucket's name.
  package let bucket: String
  /// What their keys begin with: empty, or ends with a slash.
  package let prefix: String

  /// Whether a text is meant as one.
  package static func isOne(_ text: String) -> Bool { text.hasPrefix(scheme) }

  /// The address that a text is.
  ///
  /// - Throws: `ObjectStoreError.notAnAddress`.
  package init(_ text: String) throws(ObjectStoreError) {
    guard Self.isOne(text) else { throw .notAnAddress(text) }
    // By bytes: a slash and an accent behind it are one letter to Swift.
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

  /// What stands before the key of an object of the bucket.
  package var bucketAddress: String { "\(Self.scheme)\(bucket)/" }

  /// The address.
  package var description: String { "\(Self.scheme)\(bucket)/\(prefix)" }
}

/// Why an object store did not do what it should.
package enum ObjectStoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A text is no address.
  case notAnAddress(String)
  /// A variable of the environment is missing, or is not what it should be.
  case setting(String)
  /// The store could not be asked: a clause.
  case failed(String)
  /// The store refused: its status, code and message.
  case refused(status: Int, code: String, message: String)
  /// Another length than the store said came, or is there.
  case otherLength(key: String, expected: Int, found: Int)
  /// Its answer is not understood.
  case noAnswer(String)
  /// What the request was for does not hold: another wrote it meanwhile.
  case preconditionFailed
  /// The object is no longer the one that it was.
  case changed
  /// It was given up.
  case cancelled

  /// Whether the store may do it soon: it is away, or has too much to do.
  package var isPassing: Bool {
    switch self {
    case .failed, .cancelled, .changed: true
    case .refused(let status, _, _): status >= 500 || status == 429
    case .notAnAddress, .setting, .otherLength, .noAnswer, .preconditionFailed: false
    }
  }

  /// A clause.
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

  /// Which setting is to be looked at where the store refuses with a code
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
