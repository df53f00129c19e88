import CXXHash
import Compression
import HTTP
import HTTPServer
import JSON
import PostJSON
import System

/// What a route answers with when all is well: bytes of a type, and what caches and clients need to know
/// of them.
struct Representation: Sendable {
  let body: [UInt8]
  let type: ContentType
  let caching: CachePolicy.Directive
  /// The request's fields that it depends on, beside the coding.
  var varyingFields: VaryingFields = []
  /// What it leads to.
  var links = LinkField.none
  /// By what caches in front are told to forget it, where it is of what may be kept.
  var cacheKeys = CacheKeys.none
  /// The version of what is represented, for clients that want to change it: the first part of the
  /// entity tag.
  var version: String?
  /// The hash, if the maker of the body had it from the parts.
  private let knownHash: ContentHash?

  /// - Parameter hash: that of the body's parts, where it has any; else the body's own is used.
  init(
    _ body: [UInt8], _ type: ContentType = .json, hash: ContentHash? = nil,
    caching: CachePolicy.Directive
  ) {
    self.body = body
    self.type = type
    self.caching = caching
    knownHash = hash
  }

  /// What the bytes are told from others by; the same on every replica and after every restart.
  var hash: ContentHash { knownHash ?? ContentHash(body.span) }

  /// A strong validator (RFC 9110 section 8.8.3), one for each coding: it is made of the bytes and of
  /// nothing else, so it changes when they do.
  func entityTag(_ hash: ContentHash, _ coding: ContentCoding) -> EntityTag {
    var tag = hash.hexadecimal
    if let version { tag = version + EntityTag.versionEnd + tag }
    return EntityTag(coding == .identity ? tag : tag + "-" + coding.rawValue)
  }

  /// The fields that every answer with it has, 304 among them.
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
  /// What stands between a version and the rest of a tag.
  static let versionEnd = "."
}

/// What tells bytes from all others: XXH3 of 128 bits, the same on every machine.
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

  /// The hash of something whose parts begin and end where its bytes say: that of their hashes, in order.
  init(ofParts parts: [ContentHash]) {
    self = parts.withUnsafeBytes { ContentHash($0) }
  }

  /// In 32 digits.
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

  /// In few characters, for what stands before something else.
  var short: String { String(high, radix: 36) + "-" + String(low, radix: 36) }

  private static func digit(_ bits: UInt64) -> UInt8 {
    let value = UInt8(truncatingIfNeeded: bits & 15)
    return value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
  }
}

/// What a representation's bytes are. There are a few, which all representations share.
final class ContentType: Sendable {
  /// The fields that say so, and that browsers are to believe it.
  let fields: Fields
  /// Whether compressing it makes it smaller.
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

/// The field `Link` (RFC 8288 section 3): targets, and how they relate to what is answered.
enum LinkField: Sendable {
  case none
  /// Those of a page, from where they lie.
  case page(PageLinks)
  case these([Link])

  /// A target, of a URI's characters alone, and how it relates to what is answered.
  struct Link {
    let relation: StaticString
    let target: String
  }

  /// Those of these targets that there are.
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

  /// Appends its value.
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

// MARK: In a coding

/// What an answer says of a representation in one coding, but for its body.
struct VariantHead: Sendable {
  let tag: EntityTag
  private let fields: Fields
  /// How many of the fields, the first ones, every answer has, 304 among them.
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

  /// The answer to a client that already has it.
  var notModified: Response { Response(.notModified, fields: fields.prefix(sharedFields)) }
}

/// A representation in one coding, with the answers that it makes.
struct Variant: Sendable {
  let head: VariantHead
  let body: [UInt8]

  /// The answer to the request.
  ///
  /// - Throws: `Problem` 412 where a precondition fails.
  func answer(to request: Request) throws -> Response {
    try head.tag.isNews(to: request) ? head.whole(body) : head.notModified
  }
}

extension EntityTag {
  /// Whether the request wants what this is the tag of: not if the client has it already.
  ///
  /// - Throws: `Problem` 412 where a precondition fails.
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

/// Gives each client a representation in the coding that it prefers (RFC 9110 section 12.5.3),
/// compressed once for all clients that prefer it.
final class BodyEncoding: Sendable {
  let bodies: EncodedBodies
  /// A smaller body is sent as it is: it fits one packet, and the work is for nothing.
  private let minimumBytes: Int
  /// Where bodies are compressed.
  let workers: RequestWorkers

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
      "Accept-Encoding accepts none of the available codings: br, gzip, identity.")
  }

  /// Answers with the representation, in the coding that the client likes best.
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

  /// The answer with what no cache may keep, and is of this request alone: it is compressed here, on the thread that
  /// made it, and never refused for its coding.
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
