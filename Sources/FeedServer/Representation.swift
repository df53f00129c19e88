import CXXHash
import HTTP

/// How long answers may be kept by caches, RFC 9111 and RFC 5861.
struct CachePolicy: Sendable {
  /// One `Cache-Control`.
  struct Directive: Sendable {
    /// `nil`: never stored.
    let value: String?

    static let none = Directive(value: nil)

    init(value: String?) {
      self.value = value
    }

    init(maxAgeSeconds: Int, staleWhileRevalidateSeconds: Int) {
      value =
        "public, max-age=\(maxAgeSeconds), stale-while-revalidate=\(staleWhileRevalidateSeconds)"
    }
  }

  let pages: Directive
  let documents: Directive

  init(maxAgeSeconds: Int, staleWhileRevalidateSeconds: Int) {
    pages = Directive(
      maxAgeSeconds: maxAgeSeconds, staleWhileRevalidateSeconds: staleWhileRevalidateSeconds)
    documents = Directive(maxAgeSeconds: 3600, staleWhileRevalidateSeconds: 86_400)
  }
}

/// What a route answers with when all is well.
struct Representation: Sendable {
  let json: [UInt8]
  let caching: CachePolicy.Directive
  /// The request's fields that it depends on.
  var varyingFields: [String] = []
  /// Relations and targets, RFC 8288.
  var links: [(relation: String, target: String)] = []

  init(_ json: [UInt8], caching: CachePolicy.Directive) {
    self.json = json
    self.caching = caching
  }

  /// A strong validator (RFC 9110 section 8.8.3): it is made of the bytes and of nothing else, so it
  /// changes when they do, and is the same on every replica and after every restart.
  var entityTag: EntityTag {
    let hash = json.withUnsafeBytes { lookahead_xxh3_128($0.baseAddress, $0.count) }
    return EntityTag(String(hash.high, radix: 36) + "-" + String(hash.low, radix: 36))
  }

  /// The answer: the bytes, 304 where the client has them, 412 where a precondition fails.
  func response(to request: Request) throws -> Response {
    var fields = Fields()
    guard let cacheControl = caching.value else {
      fields.append("Cache-Control", "no-store")
      fields.appendCORS()
      fields.appendJSON()
      return Response(.ok, fields: fields, body: [json])
    }
    let tag = entityTag
    fields.append("ETag", tag.description)
    fields.append("Cache-Control", cacheControl)
    if !varyingFields.isEmpty {
      fields.append("Vary", varyingFields.joined(separator: ", "))
    }
    if !links.isEmpty {
      let values = links.map { "<\($0.target)>; rel=\"\($0.relation)\"" }
      fields.append("Link", values.joined(separator: ", "))
    }
    fields.appendCORS()
    switch Preconditions.evaluate(request.method, request.fields, current: tag) {
    case .notModified: return Response(.notModified, fields: fields)
    case .failed:
      throw Problem(
        .preconditionFailed, .preconditionFailed, "The representation's entity tag is \(tag).")
    case .proceed: break
    }
    fields.appendJSON()
    return Response(.ok, fields: fields, body: [json])
  }
}

extension Fields {
  fileprivate mutating func appendJSON() {
    append("Content-Type", "application/json")
    append("X-Content-Type-Options", "nosniff")
  }
}
