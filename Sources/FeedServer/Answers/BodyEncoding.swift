import Compression
import HTTP
import HTTPServer

/// Gives each client a body in the coding that it likes best (RFC 9110 section 12.5.3), compressed
/// once for all who like it.
struct BodyEncoding: Sendable {
  let bodies: EncodedBodies
  /// A smaller body is sent as it is: it fits one packet, and the work is for nothing.
  let minimumBytes: Int

  /// In the order of the server's preference, where a client likes several the same.
  private static let codings: [ContentCoding] = [.brotli, .gzip, .identity]

  /// What becomes of a representation in a coding.
  enum Outcome {
    case ready(Variant)
    /// Has to be compressed first.
    case toEncode(Pending)
  }

  /// A variant that has to be compressed.
  struct Pending: Sendable {
    let tag: EntityTag
    let notModified: Response
    fileprivate let json: [UInt8]
    fileprivate let hash: (high: UInt64, low: UInt64)
    fileprivate let coding: ContentCoding
    fileprivate let fields: Fields
  }

  /// The coding that the client likes best.
  ///
  /// - Throws: `Problem` 406 where it takes no coding that there is.
  func coding(for request: Request) throws -> ContentCoding {
    let accepted = AcceptEncoding(request.fields.combined("Accept-Encoding"))
    if let coding = accepted.best(of: Self.codings) { return coding }
    throw Problem(
      .notAcceptable, .notAcceptable,
      "Accept-Encoding takes none of br, gzip and identity, which is what there is.")
  }

  /// The representation in this coding; a small one in none, where the client takes that.
  func variant(
    of representation: Representation, in coding: ContentCoding, for request: Request
  ) -> Outcome {
    let isSmall = representation.json.count < minimumBytes
    let coding = isSmall && takesIdentity(request) ? .identity : coding
    let hash = representation.hash
    let tag = representation.entityTag(hash, coding)
    var fields = representation.fields(tag)
    let notModified = Response(.notModified, fields: fields)
    fields.appendJSON()
    let body: [UInt8]
    if coding == .identity {
      body = representation.json
    } else {
      fields.append("Content-Encoding", coding.rawValue)
      guard let encoded = bodies.find(hash: hash, coding: coding) else {
        return .toEncode(
          Pending(
            tag: tag, notModified: notModified, json: representation.json, hash: hash,
            coding: coding, fields: fields))
      }
      body = encoded
    }
    return .ready(
      Variant(
        tag: tag, whole: Response(.ok, fields: fields, bytes: body), notModified: notModified))
  }

  /// Compresses.
  func encode(_ pending: Pending) throws -> Variant {
    let body = try bodies.make(pending.json, hash: pending.hash, coding: pending.coding)
    return Variant(
      tag: pending.tag, whole: Response(.ok, fields: pending.fields, bytes: body),
      notModified: pending.notModified)
  }

  /// The representation as it is, where there is no time to compress it.
  ///
  /// - Throws: `Problem` 503 where the client takes nothing else.
  func withoutCoding(_ representation: Representation, for request: Request) throws -> Variant {
    guard takesIdentity(request),
      case .ready(let variant) = variant(of: representation, in: .identity, for: request)
    else { throw Problem(.overloaded, .serviceUnavailable, "Too much waits to be compressed.") }
    return variant
  }

  private func takesIdentity(_ request: Request) -> Bool {
    AcceptEncoding(request.fields.combined("Accept-Encoding")).best(of: [.identity]) != nil
  }
}
