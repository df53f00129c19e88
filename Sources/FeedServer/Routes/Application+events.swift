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
    var position = FeedEvents.Position.now
    if let seen = try PageRequest.cursor("before", parameters) { position = .seen(seen) }
    if let last = call.request.fields.combined("Last-Event-ID") {
      position = .returning(try? Cursor(text: last))
    }
    events.listen(to: feed, from: position) { stream in
      call.answer {
        let stream = try stream.get()
        feedRequests.note(feed)
        var fields: Fields = [
          "Content-Type": "text/event-stream", "Cache-Control": "no-store",
          // nginx hands on what comes as it comes.
          "X-Accel-Buffering": "no",
        ]
        fields.appendCORS()
        return Response(.ok, fields: fields, body: [.stream(stream)])
      }
    }
  }
}
