import HTTP
import HTTPServer

/// A representation in one coding, with the answers that it makes, head and all.
struct Variant: Sendable {
  let tag: EntityTag
  /// The answer with the representation.
  let whole: Response
  /// The answer to who has it already.
  let notModified: Response

  /// The same for one that is given again and again by this route.
  func prepared(route: String) -> Variant {
    var (whole, notModified) = (whole, notModified)
    whole.route = route
    notModified.route = route
    return Variant(tag: tag, whole: whole.prepared(), notModified: notModified)
  }

  /// The answer to the request.
  ///
  /// - Throws: `Problem` 412 where a precondition fails.
  func answer(to request: Request) throws -> Response {
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
