import Feed
import HTTP
import HTTPServer

// MARK: Events

extension Application {
  /// Says when a feed has something newer, for as long as the client listens.
  ///
  /// - Throws: `CursorError` where `before` holds none. What a browser sends as `Last-Event-ID` when it
  ///   connects anew is never refused, as it would then give up: a cursor that is none is behind.
  func listen(to feed: String, _ parameters: Parameters, _ call: Call) throws {
    let asked = try PageRequest.cursor("before", parameters)
    let last = call.request.fields.combined("Last-Event-ID")
    let isTaken = workers.run {
      call.answer {
        let stream = try events.listen(to: feed) {
          guard let last else {
            return try asked.map { try events.hasNewer(feed, than: $0) } ?? false
          }
          guard let cursor = try? Cursor(text: last) else { return true }
          return (try? events.hasNewer(feed, than: cursor)) ?? true
        }
        var fields: Fields = [
          "Content-Type": "text/event-stream", "Cache-Control": "no-store",
          // nginx hands on what comes as it comes.
          "X-Accel-Buffering": "no",
        ]
        fields.appendCORS()
        return Response(.ok, fields: fields, body: [.stream(stream)])
      }
    }
    guard isTaken else {
      throw Problem(.overloaded, .serviceUnavailable, "Too many requests wait for the database.")
    }
  }
}
