import Catalog
import Feed

/// A request for a page of the list of feeds: the parameters of its query.
struct FeedListRequest {
  static let parameters = ["limit", "after", "before"]

  let query: FeedListQuery
  private let texts: (after: String?, before: String?)

  /// - Throws: `ParameterError`, `CursorError`.
  init(_ parameters: Parameters) throws {
    let limit = try parameters.number("limit", in: PageRequest.limits)
    query = FeedListQuery(
      after: try Self.cursor("after", parameters), before: try Self.cursor("before", parameters),
      limit: limit ?? PageRequest.defaultLimit)
    texts = (parameters["after"], parameters["before"])
  }

  private static func cursor(_ name: String, _ parameters: Parameters) throws -> FeedListCursor? {
    guard let text = parameters[name] else { return nil }
    do throws(CursorTextError) {
      return try FeedListCursor(text: text)
    } catch {
      throw CursorError(parameter: name, cause: error)
    }
  }

  private var linkStart: String { "/v1/feeds?limit=\(query.limit)" }

  /// The link to the page below. (A cursor's text needs no encoding.)
  func link(after cursor: String) -> String {
    guard texts.after != nil, let before = texts.before else {
      return linkStart + "&after=" + cursor
    }
    // The lower end of a gap stays the same.
    return linkStart + "&after=" + cursor + "&before=" + before
  }

  /// The link to the page above.
  func link(before cursor: String) -> String {
    guard let after = texts.after, texts.before != nil else {
      return linkStart + "&before=" + cursor
    }
    return linkStart + "&after=" + after + "&before=" + cursor
  }
}

/// The cursors and links from a page of the list of feeds to the pages beside it.
struct FeedListLinks {
  let nextCursor: String?
  let previousCursor: String?
  let next: String?
  let previous: String?

  init(_ page: FeedListPage, _ asked: FeedListRequest) {
    nextCursor = page.next?.text
    previousCursor = page.previous?.text
    next = nextCursor.map(asked.link(after:))
    previous = previousCursor.map(asked.link(before:))
  }

  /// The value of the field `Link`.
  var field: LinkField { .ofPage(next: next, previous: previous) }
}
