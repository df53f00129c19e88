import Foundation
import HTTP
import SHA2

/// The digests that a request declares for its body (RFC 9530): `Content-Digest` of the content as sent, and
/// `Repr-Digest` of the file. For a body without a coding, both are of the same bytes.
struct DigestFields: Sendable {
  enum Algorithm: String, CaseIterable, Sendable {
    case sha256 = "sha-256"
    case sha512 = "sha-512"

    fileprivate var byteCount: Int { self == .sha256 ? SHA256.byteCount : SHA512.byteCount }
  }

  struct Expected: Sendable {
    let field: String
    let algorithm: Algorithm
    let digest: [UInt8]
  }

  /// The digests that the body must have.
  let expected: [Expected]

  var needsSHA512: Bool { expected.contains { $0.algorithm == .sha512 } }

  /// Reads the fields with these names.
  ///
  /// - Throws: `ParameterError` for a field that is not a dictionary of digests (RFC 8941), or has no digest
  ///   by a known algorithm. Unknown algorithms beside a known one are ignored (RFC 9530 section 2).
  init(_ fields: Fields, _ names: [String] = ["Repr-Digest", "Content-Digest"]) throws {
    var expected: [Expected] = []
    for name in names {
      guard let value = fields.combined(name) else { continue }
      var found: [Expected] = []
      for member in value.split(separator: ",", omittingEmptySubsequences: false) {
        let member = member.trimmingCharacters(in: .whitespaces)
        guard let equals = member.firstIndex(of: "=") else {
          throw ParameterError(parameter: name, problem: Self.form)
        }
        let text = member[member.index(after: equals)...]
        guard let algorithm = Algorithm(rawValue: String(member[..<equals])) else { continue }
        guard text.count >= 2, text.hasPrefix(":"), text.hasSuffix(":"),
          let digest = Data(base64Encoded: String(text.dropFirst().dropLast())),
          digest.count == algorithm.byteCount
        else { throw ParameterError(parameter: name, problem: Self.form) }
        found.append(Expected(field: name, algorithm: algorithm, digest: Array(digest)))
      }
      guard !found.isEmpty else {
        throw ParameterError(
          parameter: name,
          problem: "has no digest with a supported algorithm: sha-256, sha-512")
      }
      expected += found
    }
    self.expected = expected
  }

  private static let form = "is not of the form sha-256=:BASE64: or sha-512=:BASE64:"

  /// - Throws: `Problem` 400 with both values if the digests differ.
  func check(sha256: [UInt8], sha512: [UInt8]?) throws {
    for expected in expected {
      let found = expected.algorithm == .sha256 ? sha256 : sha512 ?? []
      guard found != expected.digest else { continue }
      var problem = Problem(
        .wrongDigest, .badRequest,
        "\(expected.field) is \(Self.text(expected.algorithm, expected.digest)), but the "
          + "received content has \(Self.text(expected.algorithm, found)). Nothing is stored.",
        parameter: expected.field)
      problem.fields.append("Want-Repr-Digest", "sha-256=10, sha-512=9")
      throw problem
    }
  }

  /// A digest in the syntax of these fields.
  static func text(_ algorithm: Algorithm, _ digest: [UInt8]) -> String {
    "\(algorithm.rawValue)=:\(Data(digest).base64EncodedString()):"
  }
}
