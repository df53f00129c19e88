import Compression
import HTTP
import HTTPServer
import System

/// Gives each client a representation in the coding that it likes best (RFC 9110 section 12.5.3),
/// compressed once for all who like it.
final class BodyEncoding: Sendable {
  let bodies: EncodedBodies
  /// A smaller body is sent as it is: it fits one packet, and the work is for nothing.
  private let minimumBytes: Int
  /// Where bodies are compressed.
  private let workers: WorkerPool

  init(bodies: EncodedBodies, minimumBytes: Int, workers: WorkerPool) {
    self.bodies = bodies
    self.minimumBytes = minimumBytes
    self.workers = workers
  }

  /// In the order of the server's preference, where a client likes several the same.
  private static let codings: [ContentCoding] = [.brotli, .gzip, .identity]

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

  /// Answers with the representation, in the coding that the client likes best.
  func answer(_ representation: Representation, to call: Call) {
    guard representation.caching.value != nil else {
      return call.respond(representation.uncached)
    }
    call.attempt {
      let coding = try coding(for: call.request)
      try answer(representation, in: coding, to: call) { _ in }
    }
  }

  /// Answers with the representation in this coding; a small one in none, and one that would not be
  /// smaller, where the client takes that. `made` gets the variant where there was one to make.
  ///
  /// - Throws: `Problem` 412 where a precondition fails.
  func answer(
    _ representation: Representation, in coding: ContentCoding, to call: Call,
    made: @escaping @Sendable (Variant) -> Void
  ) throws {
    let isWorthwhile =
      representation.type.isCompressible && representation.body.count >= minimumBytes
    let isIdentity = coding == .identity || (!isWorthwhile && takesIdentity(call.request))
    let hash = representation.hash
    if isIdentity {
      let pending = Pending(representation, hash, .identity)
      return try answer(pending.variant(body: representation.body), to: call, made)
    }
    let pending = Pending(representation, hash, coding)
    if let body = bodies.find(hash: (hash.high, hash.low), coding: coding) {
      return try answer(pending.variant(body: body), to: call, made)
    }
    guard try pending.tag.isNews(to: call.request) else {
      return call.respond(pending.notModified)
    }
    // Once for each page that changed: too long for an event loop.
    let isTaken = workers.run { [bodies] in
      call.answer {
        let variant = try call.timing.measure("compress") {
          pending.variant(
            body: try bodies.make(
              representation.body, hash: (hash.high, hash.low), coding: coding))
        }
        made(variant)
        return variant.whole
      }
    }
    if isTaken { return }
    guard takesIdentity(call.request) else {
      throw Problem(.overloaded, .serviceUnavailable, "Too much waits to be compressed.")
    }
    let plain = Pending(representation, hash, .identity)
    call.respond(plain.variant(body: representation.body).whole)
  }

  private func answer(
    _ variant: consuming Variant, to call: Call, _ made: (Variant) -> Void
  ) throws {
    made(variant)
    call.respond(try variant.answer(to: call.request))
  }

  private func takesIdentity(_ request: Request) -> Bool {
    AcceptEncoding(request.fields.combined("Accept-Encoding")).best(of: [.identity]) != nil
  }
}

/// A variant but for its body.
private struct Pending: Sendable {
  let tag: EntityTag
  private let fields: Fields
  /// How many of the fields, the first ones, a 304 has, too.
  private let sharedFields: Int

  init(_ representation: borrowing Representation, _ hash: ContentHash, _ coding: ContentCoding) {
    tag = representation.entityTag(hash, coding)
    var fields = representation.fields(tag)
    sharedFields = fields.count
    fields.append(representation.type.fields)
    if coding != .identity { fields.append("Content-Encoding", coding.rawValue) }
    self.fields = fields
  }

  var notModified: Response { Response(.notModified, fields: fields.prefix(sharedFields)) }

  func variant(body: [UInt8]) -> Variant {
    Variant(
      tag: tag, whole: Response(.ok, fields: fields, bytes: body), sharedFields: sharedFields)
  }
}
