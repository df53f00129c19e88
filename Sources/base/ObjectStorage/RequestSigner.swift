// `ObjectStorage` uploads files to a bucket of S3, or of a store with the same protocol, and downloads them:
// `RequestSigner` signs requests and URLs (pure), `StoreTransport` sends them with libcurl over persistent
// connections, `StoreAnswer` parses the answers, `ObjectStore` interprets them. It knows neither backups nor
// media.

import CivilTime
import SHA2

/// Signs requests with AWS Signature Version 4
/// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). Pure.
package struct RequestSigner: Sendable {
  /// The keys that sign requests.
  package struct Credentials: Sendable {
    /// The name of the key, which is sent.
    package let accessKey: String
    /// The secret key, which is never sent.
    package let secretKey: String
    /// The token of temporary keys.
    package let sessionToken: String?

    /// Credentials with these keys.
    package init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
      self.accessKey = accessKey
      self.secretKey = secretKey
      self.sessionToken = sessionToken
    }
  }

  /// The parts of a request that are signed.
  package struct Request: Sendable {
    /// The method, such as `GET`.
    package var method: String
    /// The value of `Host`.
    package var host: String
    /// The path as it is sent, percent-encoded once.
    package var path: String
    /// The parameters, decoded.
    package var query: [(name: String, value: String)] = []
    /// The fields besides `Host` and those that the signer adds; names in lower case.
    package var fields: [(name: String, value: String)] = []
    /// The SHA-256 of the body.
    package var bodyDigest: [UInt8]

    /// A request with these parts.
    package init(
      method: String, host: String, path: String, query: [(name: String, value: String)] = [],
      fields: [(name: String, value: String)] = [], bodyDigest: [UInt8]
    ) {
      self.method = method
      self.host = host
      self.path = path
      self.query = query
      self.fields = fields
      self.bodyDigest = bodyDigest
    }
  }

  private static let algorithm = "AWS4-HMAC-SHA256"

  private let credentials: Credentials
  private let region: String
  private let service: String
  private let signsBodyDigest: Bool

  /// A signer for a service in a region.
  ///
  /// - Parameter signsBodyDigest: whether the body's digest is also a field, as S3 requires.
  package init(
    _ credentials: Credentials, region: String, service: String = "s3", signsBodyDigest: Bool = true
  ) {
    self.credentials = credentials
    self.region = region
    self.service = service
    self.signsBodyDigest = signsBodyDigest
  }

  /// All fields of a request that is sent now, except `Host`: its own fields, and those of the signature.
  package func fields(
    of request: Request, secondsSince1970: Int
  ) -> [(name: String, value: String)] {
    let time = Self.text(ofSecondsSince1970: secondsSince1970)
    var fields = request.fields
    if signsBodyDigest {
      fields.append(("x-amz-content-sha256", Self.hexadecimal(request.bodyDigest)))
    }
    fields.append(("x-amz-date", time))
    if let token = credentials.sessionToken { fields.append(("x-amz-security-token", token)) }
    let signed = (fields + [("host", request.host)]).sorted {
      $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
    }
    let names = signed.map(\.name).joined(separator: ";")
    let canonical = [
      request.method, request.path, Self.query(request.query),
      signed.map { "\($0.name):\(Self.trimmed($0.value))\n" }.joined(), names,
      Self.hexadecimal(request.bodyDigest),
    ].joined(separator: "\n")
    let authorization =
      "\(Self.algorithm) Credential=\(credentials.accessKey)/\(scope(time)), SignedHeaders=\(names), "
      + "Signature=\(signature(of: canonical, time))"
    return fields + [("authorization", authorization)]
  }

  /// The maximum validity of a signed URL in seconds, as S3 limits it.
  package static let longestSeconds = 604_800

  /// The query of a URL with which anyone can send the request: from a time on, for this number of seconds.
  /// Besides its query, only method, host and path are signed
  /// (https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html).
  package func signedQuery(
    of request: Request, secondsSince1970: Int, forSeconds seconds: Int
  ) -> String {
    let time = Self.text(ofSecondsSince1970: secondsSince1970)
    var query =
      request.query + [
        ("X-Amz-Algorithm", Self.algorithm),
        ("X-Amz-Credential", "\(credentials.accessKey)/\(scope(time))"), ("X-Amz-Date", time),
        ("X-Amz-Expires", "\(seconds)"), ("X-Amz-SignedHeaders", "host"),
      ]
    if let token = credentials.sessionToken { query.append(("X-Amz-Security-Token", token)) }
    let text = Self.query(query)
    let canonical = [
      request.method, request.path, text, "host:\(request.host)\n", "host", "UNSIGNED-PAYLOAD",
    ].joined(separator: "\n")
    return "\(text)&X-Amz-Signature=\(signature(of: canonical, time))"
  }

  private func scope(_ time: String) -> String {
    "\(time.prefix(8))/\(region)/\(service)/aws4_request"
  }

  private func signature(of canonical: String, _ time: String) -> String {
    let text = [
      Self.algorithm, time, scope(time), Self.hexadecimal(SHA256.hash(Array(canonical.utf8))),
    ].joined(separator: "\n")
    var key = Array("AWS4\(credentials.secretKey)".utf8)
    for part in [String(time.prefix(8)), region, service, "aws4_request"] {
      key = SHA256.authenticationCode(for: Array(part.utf8), key: key)
    }
    return Self.hexadecimal(SHA256.authenticationCode(for: Array(text.utf8), key: key))
  }

  /// A query as it is signed and sent: sorted by encoded names and values.
  package static func query(_ query: [(name: String, value: String)]) -> String {
    let fields: [(name: String, value: String)] = query.map {
      (encoded($0.name), encoded($0.value))
    }
    let sorted = fields.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
    return sorted.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
  }

  /// A path as it is signed and sent: all but unreserved characters and slashes percent-encoded. It compares
  /// bytes: to Swift, a slash with a combining accent behind it is one character.
  package static func path(_ path: String) -> String { encoded(path, keeping: UInt8(ascii: "/")) }

  /// The text with all but unreserved characters (RFC 3986 section 2.3) and one more percent-encoded.
  private static func encoded(_ text: String, keeping kept: UInt8? = nil) -> String {
    let bytes = text.utf8.flatMap { byte -> [UInt8] in
      switch byte {
      case kept: return [byte]
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        return [byte]
      default:
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The value without spaces around it, and with single spaces within.
  private static func trimmed(_ value: String) -> String {
    value.split(separator: " ").joined(separator: " ")
  }

  /// The time in the format `20130524T000000Z`.
  private static func text(ofSecondsSince1970 seconds: Int) -> String {
    var text: [UInt8] = []
    CivilTime(secondsSince1970: seconds).append(to: &text)
    text.removeAll { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ":") }
    return String(decoding: text, as: UTF8.self) + "Z"
  }

  /// The bytes in lower-case hexadecimal.
  package static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
