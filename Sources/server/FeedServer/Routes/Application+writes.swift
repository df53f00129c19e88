// The head of a request decides whether its body is read at all (`Application.bodyPolicy`): only
// with the token. Bodies of single writes are collected, up to a limit; an import's is passed on as
// it arrives (`BodyStream`), and the connection reads no faster than the import takes. An import
// runs `Seeder` on a thread of its own. A single write becomes an `ItemWrite` with its
// preconditions; the store's writer takes all waiting writes, runs each in a savepoint of one
// transaction (`WriteGroup`), publishes the rankings that moved, brings the catalog up to date, and
// then answers each: durable, and seen by the next read. Where an `Idempotency-Key` came along, the
// answer is kept beside it in the same savepoint.

import Catalog
import Feed
import HTTP
import HTTPServer
import JSON
import PostJSON
import System

// MARK: Single writes

extension Application {
  /// `PUT`, RFC 9110 section 9.3.4: 201 where it makes the item, 204 where it replaces it.
  func putItem(_ id: String, _ call: Call) throws {
    let writer = try call.writer()
    try BodyType.record.check(call.request.fields)
    let item = try RecordDecoder().decodeItem(call.request.body, id: id)
    try writer.check(item.placements)
    let hasFeeds = item.placements != nil
    write(
      id, .put(item.post, placements: item.placements), call,
      authorization: writer.itemAuthorization(hasFeeds: hasFeeds)
    ) { outcome in
      guard case .created = outcome else { return Response(.noContent) }
      let path = "/v1/items/\(PercentEncoding.encode(id, for: .pathSegment))"
      return Response(.created, fields: ["Location": path])
    }
  }

  /// `DELETE`, RFC 9110 section 9.3.5.
  func deleteItem(_ id: String, _ call: Call) throws {
    let writer = try call.writer()
    // An absent item is 404 for every client.
    write(id, .delete, call, authorization: writer.itemAuthorization(hasFeeds: true)) { _ in
      Response(.noContent)
    }
  }

  /// Adds to an item's counters, once for each `Idempotency-Key`.
  func countItem(_ id: String, _ call: Call) throws {
    let writer = try call.writer()
    try BodyType.record.check(call.request.fields)
    let increments = try RecordDecoder().decodeCounters(call.request.body)
    let key = try idempotencyKey(of: call.request, by: writer, id, increments)
    write(
      id, .increment(increments, key: key), call, authorization: writer.counterAuthorization
    ) { outcome in
      guard case .counted(let counters, let isReplay) = outcome else {
        return Response(.internalServerError)
      }
      var writer = JSONWriter()
      writer.object { writer in
        writer.member("id", id)
        writer.key("counters")
        writer.object { writer in
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

  private func write(
    _ id: String, _ change: ItemWrite.Change, _ call: Call,
    authorization: ItemWrite.Condition?,
    _ response: @escaping @Sendable (ItemOutcome) -> Response
  ) {
    let write = ItemWrite(
      id: id, change: change, condition: WritePreconditions(call.request).itemCondition,
      authorization: authorization)
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
        problem: "is not one text of 1 to 255 visible ASCII characters without \" and \\")
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
