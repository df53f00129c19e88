import CXXHash
import Compression
import HTTP
import HTTPServer
import JSON
import PostJSON
import System

/// A successful answer of a route: typed bytes, and what caches and clients need to know about them.
struct Representation: Sendable {
  let body: [UInt8]
  let type: ContentType
  let caching: CachePolicy.Directive
  /// The request fields that the body depends on, in addition to the content coding.
  var varyingFields: VaryingFields = []
  /// The targets of the `Link` field.
  var links = LinkField.none
  /// The keys for purges from caches in front, if caches may keep the answer.
  var cacheKeys = CacheKeys.none
  /// The version of the represented resource, for clients that want to change it: the first part of the
  /// entity tag.
  var version: String?
  /// The hash, if the creator of the body computed it from the parts.
  private let knownHash: ContentHash?

  /// - Parameter hash: the hash of the body's parts, if it has parts; default: the hash of the body.
  init(
    _ body: [UInt8], _ type: ContentType = .json, hash: ContentHash? = nil,
    caching: CachePolicy.Directive
  ) {
    self.body = body
    self.type = type
    self.caching = caching
    knownHash = hash
  }

  /// The hash that identifies the bytes; the same on every replica and after every restart.
  var hash: ContentHash { knownHash ?? ContentHash(body.span) }

  /// A strong validator (RFC 9110 section 8.8.3), one for each coding: made from the bytes alone, after the
  /// version if there is one, so it changes when they do.
  func entityTag(_ hash: ContentHash, _ coding: ContentCoding) -> EntityTag {
    var tag = hash.hexadecimal
    if let version { tag = version + EntityTag.versionEnd + tag }
    return EntityTag(coding == .identity ? tag : tag + "-" + coding.rawValue)
  }

  /// The fields of every answer with this representation, including 304.
  func fields(_ tag: EntityTag) -> Fields {
    var fields = Fields()
    fields.reserveCapacity(960)
    fields.append("ETag") { value in tag.write(to: &value) }
    fields.append(caching.fields(varyingBy: varyingFields))
    if !links.isEmpty { fields.append("Link") { links.write(to: &$0) } }
    if let keyField = caching.keyField, cacheKeys.areAny {
      fields.append(keyField.name) { keyField.write(cacheKeys, to: &$0) }
    }
    return fields
  }
}

extension EntityTag {
  /// The separator between a version and the rest of a tag.
  static let versionEnd = "."
}

/// A hash that identifies bytes: XXH3 of 128 bits, the same on every machine.
struct ContentHash: Hashable, BitwiseCopyable, Sendable {
  let high: UInt64
  let low: UInt64

  /// The hash of the bytes.
  init(_ bytes: UnsafeRawBufferPointer) {
    let hash = lookahead_xxh3_128(bytes.baseAddress, bytes.count)
    (high, low) = (hash.high, hash.low)
  }

  /// The hash of the bytes.
  init(_ bytes: Span<UInt8>) {
    self = bytes.bytes.withUnsafeBytes { ContentHash($0) }
  }

  /// The hash of a value whose bytes show where its parts begin and end: the hash of the parts' hashes, in
  /// order.
  init(ofParts parts: [ContentHash]) {
    self = parts.withUnsafeBytes { ContentHash($0) }
  }

  /// The hash as 32 hexadecimal digits.
  var hexadecimal: String {
    String(unsafeUninitializedCapacity: 32) { text in
      // Sixteen digits of four bits for each half.
      for index in 0..<16 {
        text[index] = Self.digit(high >> UInt64(60 - 4 * index))
        text[16 + index] = Self.digit(low >> UInt64(60 - 4 * index))
      }
      return 32
    }
  }

  /// A short text of the hash, as a prefix.
  var short: String { String(high, radix: 36) + "-" + String(low, radix: 36) }

  private static func digit(_ bits: UInt64) -> UInt8 {
    let value = UInt8(truncatingIfNeeded: bits & 15)
    return value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
  }
}

/// The type of a representation's bytes. All representations share a few instances.
final class ContentType: Sendable {
  /// The field that declares the type, and those that tell browsers to believe it.
  let fields: Fields
  /// Whether compression makes the content smaller.
  let isCompressible: Bool

  /// - Parameter value: the media type, RFC 9110 section 8.3.1.
  init(_ value: String, isCompressible: Bool = true) {
    fields = ["Content-Type": value, "X-Content-Type-Options": "nosniff"]
    self.isCompressible = isCompressible
  }

  /// - Parameter policy: what a document of this type may load and do (Content Security Policy Level 3).
  init(_ value: String, policy: String) {
    fields = [
      "Content-Type": value, "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer",
      "Cross-Origin-Opener-Policy": "same-origin",
    ]
    isCompressible = true
  }

  static let json = ContentType("application/json")
  /// JSON Feed (jsonfeed.org/version/1.1, section "MIME Type").
  static let jsonFeed = ContentType("application/feed+json")
  /// RSS: the type that autodiscovery names.
  static let rss = ContentType("application/rss+xml; charset=utf-8")
  static let problem = ContentType("application/problem+json")
}

/// The field `Link` (RFC 8288 section 3): targets, and their relations to the answer.
enum LinkField: Sendable {
  case none
  /// The links of a page, as ranges of its bytes.
  case page(PageLinks)
  case these([Link])

  /// A target, in the characters of URIs only, and its relation to the answer.
  struct Link {
    let relation: StaticString
    let target: String
  }

  /// The links to these targets, without the `nil` ones.
  static func ofPage(next: String?, previous: String?) -> LinkField {
    .these(
      [
        next.map { Link(relation: "next", target: $0) },
        previous.map { Link(relation: "prev", target: $0) },
      ].compactMap { $0 })
  }

  var isEmpty: Bool {
    switch self {
    case .none: true
    case .page(let links): links.next == nil && links.previous == nil
    case .these(let links): links.isEmpty
    }
  }

  /// Appends the value of the field.
  func write(to value: inout [UInt8]) {
    switch self {
    case .none: return
    case .page(let links):
      if let next = links.next {
        Self.write("next", links.bytes.span.extracting(next.target), to: &value)
      }
      if let previous = links.previous {
        if links.next != nil { value.append(text: ", ") }
        Self.write("prev", links.bytes.span.extracting(previous.target), to: &value)
      }
    case .these(let links):
      for (index, link) in links.enumerated() {
        if index > 0 { value.append(text: ", ") }
        Self.write(link.relation, link.target.utf8.span, to: &value)
      }
    }
  }

  private static func write(
    _ relation: StaticString, _ target: Span<UInt8>, to value: inout [UInt8]
  ) {
    value.append(addingCapacity: target.count + relation.utf8CodeUnitCount + 10) { output in
      output.append("<")
      output.append(target)
      output.append(">; rel=\"")
      output.append(relation)
      output.append("\"")
    }
  }
}

// MARK: Variants

/// The head of an answer with a representation in one coding: everything but the body.
struct VariantHead: Sendable {
  let tag: EntityTag
  private let fields: Fields
  /// The number of leading fields that every answer has, including 304.
  private let sharedFields: Int

  init(_ representation: borrowing Representation, _ hash: ContentHash, _ coding: ContentCoding) {
    tag = representation.entityTag(hash, coding)
    var fields = representation.fields(tag)
    sharedFields = fields.count
    fields.append(representation.type.fields)
    if coding != .identity { fields.append("Content-Encoding", coding.rawValue) }
    self.fields = fields
  }

  /// The answer with this body.
  func whole(_ body: [UInt8]) -> Response { Response(.ok, fields: fields, bytes: body) }

  /// The 304 answer to a client that already has the representation.
  var notModified: Response { Response(.notModified, fields: fields.prefix(sharedFields)) }
}

/// A representation in one coding, with the answers made from it.
struct Variant: Sendable {
  let head: VariantHead
  let body: [UInt8]

  /// The answer to the request.
  ///
  /// - Throws: `Problem` 412 if a precondition fails.
  func answer(to request: Request) throws -> Response {
    try head.tag.isNews(to: request) ? head.whole(body) : head.notModified
  }
}

extension EntityTag {
  /// Whether the client needs the representation with this tag: `false` if it already has it.
  ///
  /// - Throws: `Problem` 412 if a precondition fails.
  func isNews(to request: Request) throws -> Bool {
    switch Preconditions.evaluate(request.method, request.fields, current: self) {
    case .proceed: return true
    case .notModified: return false
    case .failed:
      throw Problem(
        .preconditionFailed, .preconditionFailed, "The representation's entity tag is \(self).")
    }
  }
}

/// Answers each client in the content coding that it prefers (RFC 9110 section 12.5.3). Compresses a
/// representation once for all clients that prefer a coding.
final class BodyEncoding: Sendable {
  let bodies: EncodedBodies
  /// The minimum size of compressed bodies: a smaller body fits one packet, so compression saves nothing.
  private let minimumBytes: Int
  /// The threads that compress bodies.
  let workers: RequestWorkers

  init(bodies: EncodedBodies, minimumBytes: Int, workers: RequestWorkers) {
    self.bodies = bodies
    self.minimumBytes = minimumBytes
    self.workers = workers
  }

  /// The codings in the server's order of preference, for clients that rate several equally.
  private static let codings: [ContentCoding] = [.brotli, .gzip, .identity]

  /// The coding that the client prefers.
  ///
  /// - Throws: `Problem` 406 if the client accepts no available coding.
  func coding(for request: Request) throws -> ContentCoding {
    let accepted = AcceptEncoding(request.fields.combined("Accept-Encoding"))
    if let coding = accepted.best(of: Self.codings) { return coding }
    throw Problem(
      .notAcceptable, .notAcceptable,
      "Accept-Encoding accepts none of the available codings: br, gzip, identity.")
  }

  /// Answers with the representation in the coding that the client prefers.
  func answer(_ representation: Representation, to call: Call) {
    guard representation.caching.value != nil || representation.version != nil else {
      return call.answer { try uncached(representation, for: call) }
    }
    call.attempt {
      let coding = try coding(for: call.request)
      if let variant = plain(representation, in: coding, for: call.request) {
        return call.respond(try variant.answer(to: call.request))
      }
      try compress(representation, in: coding, for: call) { _ in }
    }
  }

  /// The answer with a representation for this request alone, which no cache may keep. It is compressed here,
  /// on the thread that created it, and never refused for its coding.
  private func uncached(_ representation: Representation, for call: Call) throws -> Response {
    var fields = representation.caching.fields
    fields.append(representation.type.fields)
    let accepted = AcceptEncoding(call.request.fields.combined("Accept-Encoding"))
    guard representation.type.isCompressible, representation.body.count >= minimumBytes,
      let coding = accepted.best(of: Self.codings), coding != .identity
    else { return Response(.ok, fields: fields, bytes: representation.body) }
    fields.append("Content-Encoding", coding.rawValue)
    let body = try call.timing.measure(.compress) {
      try bodies.makeOnce(representation.body, coding: coding)
    }
    return Response(.ok, fields: fields, bytes: body)
  }

  /// The unencoded representation if the client prefers it, or if the client accepts it and compression is
  /// not worthwhile; `nil` otherwise.
  func plain(
    _ representation: Representation, in coding: ContentCoding, for request: Request
  ) -> Variant? {
    let isWorthwhile =
      representation.type.isCompressible && representation.body.count >= minimumBytes
    guard coding == .identity || (!isWorthwhile && takesIdentity(request)) else { return nil }
    return Variant(
      head: VariantHead(representation, representation.hash, .identity), body: representation.body)
  }

  /// Answers with the representation in this coding; if too many bodies wait to be compressed, unencoded if
  /// the client accepts that. Calls `made` with the encoded variant if there is one.
  ///
  /// - Throws: `Problem` 412 if a precondition fails.
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
    // Happens once for each page that changed, and takes too long for an event loop.
    let isTaken = workers.runIfFree(for: call) { [bodies] in
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
      throw Problem(.overloaded, .serviceUnavailable, "Too many answers wait to be compressed.")
    }
    call.respond(VariantHead(representation, hash, .identity).whole(representation.body))
  }

  private func takesIdentity(_ request: Request) -> Bool {
    AcceptEncoding(request.fields.combined("Accept-Encoding")).best(of: [.identity]) != nil
  }
}
