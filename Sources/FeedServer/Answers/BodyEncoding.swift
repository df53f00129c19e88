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

  enum Answer {
    case ready(Response)
    /// Has to be compressed first.
    case toEncode(Body)
  }

  /// A body that has to be compressed.
  struct Body: Sendable {
    fileprivate let json: [UInt8]
    fileprivate let hash: (high: UInt64, low: UInt64)
    fileprivate let coding: ContentCoding
    fileprivate let fields: Fields
    /// The answer without a coding; `nil` where the client does not take that.
    fileprivate let plain: Fields?
  }

  /// The answer: the bytes, or 304 where the client has them.
  ///
  /// - Throws: `Problem` 406 where the client takes no coding that there is, 412 where a precondition
  ///   fails.
  func answer(_ representation: Representation, to request: Request) throws -> Answer {
    guard representation.caching.value != nil else {
      var fields: Fields = ["Cache-Control": "no-store"]
      fields.appendCORS()
      fields.appendJSON()
      return .ready(Response(.ok, fields: fields, bytes: representation.json))
    }
    let accepted = AcceptEncoding(request.fields.combined("Accept-Encoding"))
    guard let coding = coding(accepted, bytes: representation.json.count) else {
      throw Problem(
        .notAcceptable, .notAcceptable,
        "Accept-Encoding takes none of br, gzip and identity, which is what there is.")
    }
    let hash = representation.hash
    let tag = representation.entityTag(hash, coding)
    var fields = representation.fields(tag)
    switch Preconditions.evaluate(request.method, request.fields, current: tag) {
    case .notModified: return .ready(Response(.notModified, fields: fields))
    case .failed:
      throw Problem(
        .preconditionFailed, .preconditionFailed, "The representation's entity tag is \(tag).")
    case .proceed: break
    }
    fields.appendJSON()
    guard coding != .identity else {
      return .ready(Response(.ok, fields: fields, bytes: representation.json))
    }
    fields.append("Content-Encoding", coding.rawValue)
    if let encoded = bodies.find(hash: hash, coding: coding) {
      return .ready(Response(.ok, fields: fields, bytes: encoded))
    }
    var plain: Fields?
    if accepted.best(of: [.identity]) != nil {
      plain = representation.fields(representation.entityTag(hash, .identity))
      plain?.appendJSON()
    }
    return .toEncode(
      Body(json: representation.json, hash: hash, coding: coding, fields: fields, plain: plain))
  }

  /// The same, compressing at once what has to be.
  func encodedAnswer(_ representation: Representation, to request: Request) throws -> Response {
    switch try answer(representation, to: request) {
    case .ready(let response): response
    case .toEncode(let body): try encode(body)
    }
  }

  /// Compresses.
  func encode(_ body: Body) throws -> Response {
    let encoded = try bodies.make(body.json, hash: body.hash, coding: body.coding)
    return Response(.ok, fields: body.fields, bytes: encoded)
  }

  /// The answer where there is no time to compress.
  ///
  /// - Throws: `Problem` 503 where the client takes nothing else.
  func withoutCoding(_ body: Body) throws -> Response {
    guard let fields = body.plain else {
      throw Problem(.overloaded, .serviceUnavailable, "Too much waits to be compressed.")
    }
    return Response(.ok, fields: fields, bytes: body.json)
  }

  private func coding(_ accepted: AcceptEncoding, bytes: Int) -> ContentCoding? {
    if bytes < minimumBytes, accepted.best(of: [.identity]) != nil { return .identity }
    return accepted.best(of: Self.codings)
  }
}
