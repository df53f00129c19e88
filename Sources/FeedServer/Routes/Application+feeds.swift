import Catalog
import Feed
import HTTP
import HTTPServer
import PostJSON
import System

// MARK: Writes of feeds

extension Application {
  /// `PUT` of a feed's record: 201 where it makes the feed, 204 where it gives it a title. With another
  /// name than the path's the feed gets that name.
  func putFeed(_ name: String, _ call: Call) throws {
    let writer = try call.writer()
    try BodyType.record.check(call.request.fields)
    // The path's name has the same limits as one in a record.
    guard case .feed(let newName, let title) = try RecordDecoder().decode(call.request.body) else {
      throw RecordError(field: "feed", problem: "is missing: the record is not a feed's")
    }
    guard (1...RecordLimits.feedNameBytes).contains(name.utf8.count) else {
      throw FeedError.unknownFeed(name)
    }
    try writer.check(feed: name)
    try writer.check(feed: newName)
    let isSame = newName.utf8.elementsEqual(name.utf8)
    let path = "/v1/feeds/\(PercentEncoding.encode(newName, for: .pathSegment))"
    write(name, isSame ? .put(title: title) : .rename(to: newName, title: title), call) { outcome in
      switch outcome {
      case .created: Response(.created, fields: ["Location": path])
      case .renamed: Response(.noContent, fields: ["Content-Location": path])
      case .replaced, .deleted: Response(.noContent)
      }
    }
  }

  /// `DELETE` of a feed; its items stay.
  func deleteFeed(_ name: String, _ call: Call) throws {
    try call.writer().check(feed: name)
    write(name, .delete, call) { _ in Response(.noContent) }
  }

  private func write(
    _ name: String, _ change: FeedWrite.Change, _ call: Call,
    _ response: @escaping @Sendable (FeedOutcome) -> Response
  ) {
    let write = FeedWrite(
      name: name, change: change,
      condition: WritePreconditions(call.request).feedCondition)
    let start = MonotonicClock.nanoseconds
    store.write(write) { result in
      figures.writes.recordNanoseconds(Int64(MonotonicClock.nanoseconds - start))
      call.answer {
        var response = response(try result.get())
        response.fields.append("Cache-Control", "no-store")
        return response
      }
    }
  }
}
