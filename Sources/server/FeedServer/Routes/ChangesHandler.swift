import Catalog
import Feed
import HTTP
import HTTPServer
import JSON
import PostJSON

/// Answers with the changes after a cursor, for clients that keep a copy; without a cursor, with the current
/// one.
struct ChangesHandler: RouteHandler {
  static let parameters = ["since", "limit", "records"]
  private static let limits = 1...1_000
  private static let defaultLimit = 100

  let store: any FeedStore & ChangeStore
  let workers: RequestWorkers
  let encoding: BodyEncoding

  func answer(_ call: Call) throws {
    try call.writer().checkChanges()
    let limit = try call.parameters.number("limit", in: Self.limits) ?? Self.defaultLimit
    let withRecords = try call.parameters.boolean("records") ?? false
    var since: ChangeCursor?
    do throws(CursorTextError) {
      if let text = call.parameters["since"] { since = try ChangeCursor(text: text) }
    } catch {
      throw CursorError(parameter: "since", cause: error)
    }
    try workers.run(for: call) { [since] in
      call.attempt {
        let page = try store.changes(
          after: since, through: nil, limit: limit, withItems: withRecords)
        // The client's next read of such a feed must not be older than this.
        if page.changes.contains(where: { $0.state == .replaced }) { try store.refresh() }
        var writer = JSONWriter(capacity: (withRecords ? 1_024 : 64) * (page.changes.count + 2))
        writer.object { writer in
          writer.changes(page.changes)
          writer.object("paging") { writer in
            writer.member("next", page.next.text)
            writer.key("hasMore")
            writer.boolean(page.hasMore)
          }
        }
        encoding.answer(Representation(writer.bytes, caching: .none), to: call)
      }
    }
  }
}

extension StoreChange {
  /// The change as an object of JSON.
  package var json: [UInt8] {
    var writer = JSONWriter(capacity: item == nil ? 64 : 1_024)
    writer.object { writer in
      writer.member("kind", kind.rawValue)
      writer.member(kind == .item ? "id" : "name", name)
      writer.member("state", state.rawValue)
      guard let item else { return }
      writer.member("etag", EntityTag(ItemVersion(item).text).description)
      writer.key("record")
      writer.raw(SeedRecord.post(item.post, placements: item.placements).json)
    }
    return writer.bytes
  }
}

extension JSONWriter {
  /// `"changes": […]`
  mutating func changes(_ changes: [StoreChange]) {
    array("changes") { writer in
      for change in changes { writer.raw(change.json) }
    }
  }
}
