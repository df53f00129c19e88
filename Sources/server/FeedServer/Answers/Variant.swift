import HTTP
import HTTPServer

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
