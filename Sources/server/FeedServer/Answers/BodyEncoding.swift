import Compression
import HTTP
import HTTPServer
import System

/// Gives each client a representation in the coding that it prefers (RFC 9110 section 12.5.3),
/// compressed once for all clients that prefer it.
final class BodyEncoding: Sendable {
  let bodies: EncodedBodies
  /// A smaller body is sent as it is: it fits one packet, and the work is for nothing.
  private let minimumBytes: Int
  /// Where bodies are compressed.
  private let workers: RequestWorkers

  init(bodies: EncodedBodies, minimumBytes: Int, workers: RequestWorkers) {
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
      if let variant = plain(representation, in: coding, for: call.request) {
        return call.respond(try variant.answer(to: call.request))
      }
      try compress(representation, in: coding, for: call) { _ in }
    }
  }

  /// The representation in no coding, where it is to be answered so: where the client likes that best, and
  /// where it takes it and compressing is not worth it. Else nil.
  func plain(
    _ representation: Representation, in coding: ContentCoding, for request: Request
  ) -> Variant? {
    let isWorthwhile =
      representation.type.isCompressible && representation.body.count >= minimumBytes
    guard coding == .identity || (!isWorthwhile && takesIdentity(request)) else { return nil }
    return Variant(
      head: VariantHead(representation, representation.hash, .identity), body: representation.body)
  }

  /// Answers with the representation in this coding; where too much waits to be compressed, in none, if the
  /// client takes that. `made` gets the variant where there was one to make.
  ///
  /// - Throws: `Problem` 412 where a precondition fails.
  func compress(
    _ representation: Representation, in coding: ContentCoding, for call: Call,
    made: @escaping @Sendable (Variant) -> Void
  ) throws {
    let hash = representation.hash
    let head = VariantHead(representation, hash, coding)
    if let body = bodies.find(hash: (hash.high, hash.low), coding: coding) {
      let variant = Variant(head: head, body: body)
      made(variant)
      return call.respond(try variant.answer(to: call.request))
    }
    guard try head.tag.isNews(to: call.request) else { return call.respond(head.notModified) }
    // Once for each page that changed: too long for an event loop.
    let isTaken = workers.run(for: call) { [bodies] in
      call.answer {
        let body = try call.timing.measure(.compress) {
          try bodies.make(representation.body, hash: (hash.high, hash.low), coding: coding)
        }
        made(Variant(head: head, body: body))
        return head.whole(body)
      }
    }
    if isTaken { return }
    guard takesIdentity(call.request) else {
      throw Problem(.overloaded, .serviceUnavailable, "Too much waits to be compressed.")
    }
    call.respond(VariantHead(representation, hash, .identity).whole(representation.body))
  }

  private func takesIdentity(_ request: Request) -> Bool {
    AcceptEncoding(request.fields.combined("Accept-Encoding")).best(of: [.identity]) != nil
  }
}
