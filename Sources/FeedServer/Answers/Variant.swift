import HTTP
import HTTPServer

/// A representation in one coding, with the answers that it makes.
struct Variant: Sendable {
  let tag: EntityTag
  /// The answer with the representation.
  let whole: Response
  /// How many of its fields, the first ones, every answer has, 304 among them.
  let sharedFields: Int

  /// The answer to who has it already.
  var notModified: Response { Response(.notModified, fields: whole.fields.prefix(sharedFields)) }

  /// The answer to the request.
  ///
  /// - Throws: `Problem` 412 where a precondition fails.
  consuming func answer(to request: Request) throws -> Response {
    try tag.isNews(to: request) ? whole : notModified
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
