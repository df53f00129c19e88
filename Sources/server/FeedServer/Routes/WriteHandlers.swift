// The head of a request decides whether the server reads its body at all (`Application.decide`): only with a
// token. Bodies of single writes are collected, up to a limit; an import's body is passed on as it arrives
// (`BodyStream`), and the connection reads no faster than the import takes. An import runs `Seeder` on a
// thread of its own. A single write becomes an `ItemWrite` with its preconditions. The store's writer takes
// all waiting writes, runs each in a savepoint of one transaction (`WriteGroup`), publishes the changed
// rankings, updates the catalog, and then answers each write: it is durable, and the next read sees it. For a
// request with an `Idempotency-Key`, the answer is stored with the key in the same savepoint.

import Catalog
import Feed
import HTTP
import HTTPServer
import JSON
import PostJSON
import System
import class CoreMetrics.Timer

// MARK: Items

/// `POST`: creates an item, with a new id.
struct PostItemHandler: RouteHandler {
  let writes: SingleWrites

  func answer(_ call: Call) throws {
    let writer = try call.writer()
    try BodyType.record.check(call.request.fields)
    let id = Self.newID()
    let item = try RecordDecoder().decodeItem(call.request.body, named: id)
    try writer.check(item.placements)
    writes.change(
      item: id, .put(item.post, placements: item.placements), call,
      authorization: writer.itemAuthorization(hasFeeds: item.placements != nil)
    ) { _ in
      var writer = JSONWriter()
      writer.object { $0.member("id", id) }
      var fields: Fields = ["Location": "/v1/items/\(id)"]
      fields.append(ContentType.json.fields)
      return Response(.created, fields: fields, bytes: writer.bytes)
    }
  }

  /// 120 random bits in letters and digits without those that look alike (Crockford's base 32).
  private static func newID() -> String {
    let digits = Array("0123456789abcdefghjkmnpqrstvwxyz")
    return String((0..<24).map { _ in digits.randomElement()! })
  }
}

/// The item changed since the patch was applied to it.
struct ItemMoved: Error {}

/// `PATCH` with a merge patch (RFC 5789, RFC 7396) of an item's record: fields that it does not name stay, as
/// do counters that other writers change meanwhile.
///
/// The handler applies the patch to the item as read, and writes the result if the item is still the same;
/// otherwise it reads and applies again.
struct PatchItemHandler: RouteHandler {
  let writes: SingleWrites

  /// The maximum number of attempts: each fails because another write of the item came first.
  private static let maximumTries = 64

  func answer(_ call: Call) throws {
    let writer = try call.writer()
    try BodyType.mergePatch.check(call.request.fields)
    let patch = try RecordDecoder().decodePatch(call.request.body)
    let answer = writes.answer(call) { (_: ItemOutcome) in Response(.noContent) }
    change(patch, by: writer, call, triesLeft: Self.maximumTries, answer)
  }

  private func change(
    _ patch: ItemPatch, by writer: WriteToken, _ call: Call, triesLeft: Int,
    _ answer: @escaping @Sendable (Result<ItemOutcome, any Error>) -> Void
  ) {
    let id = call.segment("id")
    writes.store.item(withID: id) { result in
      call.attempt {
        guard let item = try result.get() else { throw FeedError.unknownItem(id) }
        let keepsCounters = !patch.namesCounters
        let version = { @Sendable (item: StoredItem) in
          (keepsCounters ? ItemVersion.withoutCounters(item) : ItemVersion(item)).text
        }
        // Checks the rights on the current item first: the result of a patch would reveal the item's content.
        try writer.itemAuthorization(hasFeeds: true)?(item)
        let (post, placements) = try patch.applied(to: item.post, placements: item.placements)
        try writer.check(placements)
        let (read, precondition) = (version(item), WritePreconditions(call.request).itemCondition)
        let write = ItemWrite(
          id: id, change: .put(post, placements: placements, keepsCounters: keepsCounters),
          condition: { current in
            try precondition?(current)
            guard let current, version(current) == read else { throw ItemMoved() }
          },
          authorization: writer.itemAuthorization(hasFeeds: true))
        writes.store.write(write) { result in
          if case .failure(let error) = result, error is ItemMoved, triesLeft > 1 {
            change(patch, by: writer, call, triesLeft: triesLeft - 1, answer)
          } else {
            answer(result)
          }
        }
      }
    }
  }
}

/// `PUT`, RFC 9110 section 9.3.4: 201 if it creates the item, 204 if it replaces it.
struct PutItemHandler: RouteHandler {
  let writes: SingleWrites

  func answer(_ call: Call) throws {
    let id = call.segment("id")
    let writer = try call.writer()
    try BodyType.record.check(call.request.fields)
    let item = try RecordDecoder().decodeItem(call.request.body, id: id)
    try writer.check(item.placements)
    let hasFeeds = item.placements != nil
    writes.change(
      item: id, .put(item.post, placements: item.placements), call,
      authorization: writer.itemAuthorization(hasFeeds: hasFeeds)
    ) { outcome in
      guard case .created = outcome else { return Response(.noContent) }
      let path = "/v1/items/\(PercentEncoding.encode(id, for: .pathSegment))"
      return Response(.created, fields: ["Location": path])
    }
  }
}

/// `DELETE`, RFC 9110 section 9.3.5.
struct DeleteItemHandler: RouteHandler {
  let writes: SingleWrites

  func answer(_ call: Call) throws {
    let (id, writer) = (call.segment("id"), try call.writer())
    // Answers 404 for an absent item, whatever the rights of the client.
    writes.change(
      item: id, .delete, call, authorization: writer.itemAuthorization(hasFeeds: true)
    ) { _ in Response(.noContent) }
  }
}

/// Adds to an item's counters, once for each `Idempotency-Key`.
struct CountItemHandler: RouteHandler {
  let writes: SingleWrites

  func answer(_ call: Call) throws {
    let id = call.segment("id")
    let writer = try call.writer()
    try BodyType.record.check(call.request.fields)
    let increments = try RecordDecoder().decodeCounters(call.request.body)
    let key = try idempotencyKey(of: call.request, by: writer, id, increments)
    writes.change(
      item: id, .increment(increments, key: key), call, authorization: writer.counterAuthorization
    ) { outcome in
      guard case .counted(let counters, let isReplay) = outcome else {
        return Response(.internalServerError)
      }
      var writer = JSONWriter()
      writer.object { writer in
        writer.member("id", id)
        writer.object("counters") { writer in
          for counter in counters {
            writer.key(text: counter.name)
            writer.integer(counter.value)
          }
        }
      }
      var fields = Fields()
      fields.append(ContentType.json.fields)
      if isReplay { fields.append("Idempotent-Replayed", "true") }
      return Response(.ok, fields: fields, bytes: writer.bytes)
    }
  }

  /// The key of the header field `Idempotency-Key`, a quoted string or a token
  /// (draft-ietf-httpapi-idempotency-key-header).
  private func idempotencyKey(
    of request: Request, by writer: WriteToken, _ id: String, _ increments: [Counter]
  ) throws -> IdempotencyKey? {
    let values = request.fields.values(of: "Idempotency-Key")
    guard let value = values.first else { return nil }
    let isQuoted = value.utf8.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
    let text = isQuoted ? String(value.dropFirst().dropLast()) : value
    guard values.count == 1, (1...255).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c })
    else {
      throw ParameterError(
        parameter: "Idempotency-Key",
        problem: "is not a single value of 1 to 255 visible ASCII characters without \" and \\")
    }
    var content = JSONWriter()
    content.object { writer in
      writer.member("id", id)
      for counter in increments.sorted(by: { ByteText($0.name) < ByteText($1.name) }) {
        writer.key(text: counter.name)
        writer.integer(counter.value)
      }
    }
    return IdempotencyKey(
      text, of: writer.name, fingerprint: ContentHash(content.bytes.span).short)
  }
}

// MARK: Feeds

/// `PUT` of a feed's record: 201 if it creates the feed, 204 if it changes the title. A record with another
/// name than the path's renames the feed.
struct PutFeedHandler: RouteHandler {
  let writes: SingleWrites

  func answer(_ call: Call) throws {
    let name = call.segment("feed")
    let writer = try call.writer()
    try BodyType.record.check(call.request.fields)
    // The path's name has the same limits as one in a record.
    guard case .feed(let newName, let title) = try RecordDecoder().decode(call.request.body) else {
      throw RecordError(field: "feed", problem: "is missing: the record is not a feed record")
    }
    guard (1...RecordLimits.feedNameBytes).contains(name.utf8.count) else {
      throw FeedError.unknownFeed(name)
    }
    try writer.check(feed: name)
    try writer.check(feed: newName)
    let isSame = newName.utf8.elementsEqual(name.utf8)
    let path = "/v1/feeds/\(PercentEncoding.encode(newName, for: .pathSegment))"
    writes.change(
      feed: name, isSame ? .put(title: title) : .rename(to: newName, title: title), call
    ) { outcome in
      switch outcome {
      case .created: Response(.created, fields: ["Location": path])
      case .renamed: Response(.noContent, fields: ["Content-Location": path])
      case .replaced, .deleted: Response(.noContent)
      }
    }
  }
}

/// `DELETE` of a feed; its items stay.
struct DeleteFeedHandler: RouteHandler {
  let writes: SingleWrites

  func answer(_ call: Call) throws {
    let name = call.segment("feed")
    try call.writer().check(feed: name)
    writes.change(feed: name, .delete, call) { _ in Response(.noContent) }
  }
}

// MARK: Shared parts

/// Sends single writes to the store, and answers when they are done.
struct SingleWrites: Sendable {
  let store: any FeedStore
  /// The durations of writes.
  let durations: Timer

  func change(
    item id: String, _ change: ItemWrite.Change, _ call: Call,
    authorization: ItemWrite.Condition?,
    _ response: @escaping @Sendable (ItemOutcome) -> Response
  ) {
    let write = ItemWrite(
      id: id, change: change, condition: WritePreconditions(call.request).itemCondition,
      authorization: authorization)
    store.write(write, completion: answer(call, response))
  }

  func change(
    feed name: String, _ change: FeedWrite.Change, _ call: Call,
    _ response: @escaping @Sendable (FeedOutcome) -> Response
  ) {
    let write = FeedWrite(
      name: name, change: change, condition: WritePreconditions(call.request).feedCondition)
    store.write(write, completion: answer(call, response))
  }

  /// Answers the call with the result of a write that begins now.
  func answer<Outcome>(
    _ call: Call, _ response: @escaping @Sendable (Outcome) -> Response
  ) -> @Sendable (Result<Outcome, any Error>) -> Void {
    let start = MonotonicClock.nanoseconds
    return { [durations] result in
      durations.recordNanoseconds(Int64(MonotonicClock.nanoseconds - start))
      call.answer {
        var response = response(try result.get())
        response.fields.append("Cache-Control", "no-store")
        return response
      }
    }
  }
}
