import OpenAPIClient

/// Fetches from a server with the client that openapi-generator makes for Swift.
@main
struct Fetch {
  struct Failure: Error { let what: String }

  static func check(_ holds: Bool, _ what: @autoclosure () -> Any) throws {
    if !holds { throw Failure(what: "\(what())") }
  }

  static func main() async throws {
    let server = OpenAPIClientAPIConfiguration(
      basePath: CommandLine.arguments[1],
      customHeaders: ["Authorization": "Bearer " + CommandLine.arguments[2]])
    var ids: [String] = []
    var after: String?
    var total: Int64 = 0
    repeat {
      let page = try await DefaultAPI.getPage(
        feed: "featured", limit: 7, after: after, apiConfiguration: server)
      ids += page.items.map(\.id)
      total = page.feed.total
      after = page.paging.next
    } while after != nil
    try check(Int64(ids.count) == total && Set(ids).count == ids.count && ids.count > 20, ids)

    let around = try await DefaultAPI.getPage(
      feed: "featured", around: ids[9], leading: 2, trailing: 1, apiConfiguration: server)
    try check(around.items.map(\.id) == Array(ids[8..<12]), around)
    let item = try await DefaultAPI.getItem(id: ids[0], apiConfiguration: server)
    try check(item.feeds.contains { $0.name == "featured" }, item)
    let first = try await DefaultAPI.getPage(feed: "featured", apiConfiguration: server)
    let files = first.items.flatMap { $0.media ?? [] }
    try check(files.contains { ($0.bytes ?? 0) > 0 }, "no file has a size")

    let id = "made by a client"
    let extra: [String: JSONValue] = [
      "price": .double(12.5), "sizes": .array([.string("S"), .dictionary(["m": .null])]),
    ]
    let record = Record(
      feeds: [RecordPlacement(name: "made")], type: .text, text: "made by a generated client",
      author: RecordAuthor(name: "Ann"), extra: extra)
    try await DefaultAPI.putItem(id: id, record: record, apiConfiguration: server)
    let made = try await DefaultAPI.getItem(id: id, apiConfiguration: server)
    try check(made.extra == extra && made.author?.name == "Ann" && made.author?.id == nil, made)
    try await DefaultAPI.deleteItem(id: id, apiConfiguration: server)
    do {
      _ = try await DefaultAPI.getItem(id: id, apiConfiguration: server)
      throw Failure(what: "it is still there")
    } catch ErrorResponse.error(let status, _, _, _) {
      try check(status == 404, status)
    }

    let state = PlanState(feed: "featured", items: Array(ids[..<3]), active: ids[0])
    let plan = try await DefaultAPI.plan(planState: state, apiConfiguration: server)
    try check(plan.actions.first.map { ids.contains($0.item ?? "") } ?? false, plan)
    print("\(ids.count) items, \(files.count) files, \(plan.actions.count) actions")
  }
}
