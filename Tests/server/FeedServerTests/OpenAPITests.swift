import Feed
import Foundation
import HTTP
import PostJSON
import Prefetch
import Seeding
import TestSupport
import Testing

@testable import FeedServer

/// The document describes what the program does: every route, parameter, bound and problem.
@Suite struct OpenAPITests {
  private let document =
    try! JSONSerialization.jsonObject(with: Data(OpenAPI.document)) as! [String: Any]

  private var paths: [String: [String: Any]] { document["paths"] as! [String: [String: Any]] }

  private func resolved(_ value: Any) -> [String: Any] {
    guard let object = value as? [String: Any] else { return [:] }
    guard let reference = object["$ref"] as? String else { return object }
    var current: Any = document
    for name in reference.dropFirst(2).split(separator: "/") {
      current = (current as! [String: Any])[String(name)]!
    }
    return current as! [String: Any]
  }

  private func parameters(of route: Route, in place: String) -> [[String: Any]] {
    let path = paths[route.path] ?? [:]
    let operation = path[route.method.rawValue.lowercased()] as? [String: Any] ?? [:]
    let all = (path["parameters"] as? [Any] ?? []) + (operation["parameters"] as? [Any] ?? [])
    return all.map(resolved).filter { $0["in"] as? String == place }
  }

  /// What the document describes, as `PUT /v1/items/{id}`.
  private var operations: Set<String> {
    Set(
      paths.flatMap { path, item in
        item.keys.filter { $0 != "parameters" }.map { "\($0.uppercased()) \(path)" }
      })
  }

  /// HEAD and OPTIONS are described in words: clients made of the document would have a method for each.
  @Test func `every route is in it and nothing else`() {
    #expect(operations == Set(Route.allCases.map { "\($0.method) \($0.path)" }))
  }

  @Test(arguments: [
    ("Record", #"{"?":0}"#), ("RecordAuthor", #"{"id":"a","type":"text","author":{"?":0}}"#),
    ("RecordMedia", #"{"id":"a","type":"text","media":[{"?":0}]}"#),
    ("RecordPlacement", #"{"feeds":[{"?":0}]}"#),
  ])
  func `the fields of a record are the program's, and docs/seeding.md has them`(
    _ schema: String, _ record: String
  ) throws {
    let described = try #require(
      resolved(["$ref": "#/components/schemas/\(schema)"])["properties"] as? [String: Any])
    let error = #expect(throws: RecordError.self) { try RecordDecoder().decode(record.utf8) }
    let problem = try #require(error).problem
    let known = try #require(problem.firstMatch(of: /unknown field; known fields: (.*)/))
      .output.1.components(separatedBy: ", ")
    // A record of a feed is no item.
    #expect(known.filter { $0 != "feed" } == described.keys.sorted())
    let seeding = try Repository.text("docs/seeding.md")
    // Words for places are for single writes.
    for name in known where !["after", "before"].contains(name) {
      #expect(seeding.contains("\"\(name)\"") || seeding.contains("`\(name)`"), "\(name)")
    }
    guard schema == "Record" else { return }
    let item = try #require(
      resolved(["$ref": "#/components/schemas/Post"])["properties"] as? [String: Any])
    #expect(
      item.keys.filter { !["prefetch", "survival"].contains($0) }.sorted()
        == described.keys.filter { $0 != "feeds" }.sorted())
  }

  @Test func `a policy's strategies are those of the program, and docs/engine.md has each`() throws
  {
    let names = Policy.Strategy.usual.map(\.name)
    let schemas = (document["components"] as! [String: Any])["schemas"] as! [String: [String: Any]]
    let policies = schemas.values.compactMap { schema in
      (schema["properties"] as? [String: [String: Any]])?["strategy"]?["enum"] as? [String]
    }
    #expect(!policies.isEmpty && policies.allSatisfy { Set($0) == Set(names) })
    let engine = try Repository.text("docs/engine.md")
    for name in names { #expect(engine.contains("`\(name)`"), "docs/engine.md has no \(name)") }
    for setting in PrefetchSettings.all {
      let (value, range) = (setting.value(in: PrefetchSettings()), setting.range)
      let row = "| `\(setting.name)` | \(value) | \(range.lowerBound)…\(range.upperBound) |"
      #expect(engine.contains(row), "docs/engine.md has no \(row)")
    }
  }

  @Test func `every write needs the token and nothing else does`() {
    let secured = paths.flatMap { path, item in
      item.compactMap { method, operation in
        (operation as? [String: Any])?["security"] == nil
          ? nil : "\(method.uppercased()) \(path)"
      }
    }
    let writes = Route.allCases.filter(\.isWrite).map { "\($0.method) \($0.path)" }
    #expect(secured.sorted() == writes.sorted())
  }

  @Test func `the bounds of a record are the program's`() throws {
    let schemas = ["Record", "RecordPlacement", "RecordMedia", "Counters"].map {
      resolved(["$ref": "#/components/schemas/\($0)"])
    }
    func property(_ schema: Int, _ name: String) -> [String: Any] {
      resolved((schemas[schema]["properties"] as? [String: Any])?[name] as Any)
    }
    for (schema, name, bound, expected) in [
      (0, "id", "maxLength", RecordLimits.idBytes),
      (0, "title", "maxLength", RecordLimits.titleCharacters),
      (0, "text", "maxLength", RecordLimits.textBytes),
      (0, "url", "maxLength", RecordLimits.urlBytes),
      (0, "feeds", "maxItems", RecordLimits.feeds),
      (0, "tags", "maxItems", RecordLimits.tags),
      (0, "media", "maxItems", RecordLimits.media),
      (0, "counters", "maxProperties", RecordLimits.counters),
      (1, "name", "maxLength", RecordLimits.feedNameBytes),
      (1, "rank", "maximum", SortKey.rankRange.upperBound),
      (2, "width", "maximum", RecordLimits.pixels),
      (2, "bytes", "maximum", RecordLimits.fileBytes),
    ] {
      let described = property(schema, name)
      // A rank is a number or a word.
      let choice = (described["anyOf"] as? [[String: Any]])?.first ?? described
      #expect(choice[bound] as? Int == expected, "\(name)")
    }
    let names = resolved(schemas[3]["propertyNames"] as Any)
    #expect(names["maxLength"] as? Int == RecordLimits.counterNameCharacters)
  }

  @Test(arguments: Route.allCases)
  func `every parameter of a route is in it and nothing else`(_ route: Route) {
    let names = parameters(of: route, in: "query").map { $0["name"] as! String }
    #expect(names.sorted() == route.parameters.sorted())
    let segments = parameters(of: route, in: "path").map { "{\($0["name"] as! String)}" }
    for segment in segments { #expect(route.path.contains(segment)) }
    #expect(segments.count == route.path.count { $0 == "{" })
  }

  @Test func `the bounds are the program's`() throws {
    let schemas = Dictionary(
      uniqueKeysWithValues: parameters(of: .compactPage, in: "query").map {
        ($0["name"] as! String, resolved($0["schema"] as Any))
      })
    let limit = try #require(schemas["limit"])
    #expect(limit["minimum"] as? Int == PageRequest.limits.lowerBound)
    #expect(limit["maximum"] as? Int == PageRequest.limits.upperBound)
    // Clients send the defaults that a description states, beside what excludes them: it states none.
    #expect(schemas.values.allSatisfy { $0["default"] == nil })
    let text = String(decoding: OpenAPI.document, as: UTF8.self)
    #expect(text.contains("Number of items of the page, \(PageRequest.defaultLimit) if absent."))
    #expect(schemas["offset"]?["maximum"] as? Int == PageRequest.offsets.upperBound)
    #expect(schemas["leading"]?["maximum"] as? Int == PageRequest.limits.upperBound - 1)
    #expect(schemas["budget"]?["maximum"] as? Int == PageRequest.budgets.upperBound)
    #expect(schemas["width"]?["minimum"] as? Int == PageRequest.widths.lowerBound)
    #expect(schemas["width"]?["maximum"] as? Int == PageRequest.widths.upperBound)
  }

  @Test func `the steps of Server-Timing are the program's`() throws {
    let pattern = try #require(
      resolved(["$ref": "#/components/headers/Server-Timing/schema"])["pattern"] as? String)
    let service = try RunningServer(PostGenerator(count: 200, seed: 1))
    let client = try service.client()
    let feeds: [[String: Any]] = try #require(try client.get("/v1/feeds").value("feeds"))
    let feed = try #require(feeds.first?["name"] as? String)
    let id = try #require(try client.get("/v1/feeds/\(feed)/items").itemIDs.first)
    let asks = ["Prefer": "server-timing", "Accept-Encoding": "gzip"]
    let targets = ["/v1/feeds/\(feed)/items?limit=50", "/v1/items/\(id)", "/v1/feeds", "/healthz"]
    for target in targets + targets {
      let timing = try #require(try client.get(target, asks).fields["server-timing"])
      #expect(timing.wholeMatch(of: try Regex(pattern)) != nil, "\(target): \(timing)")
    }
  }

  @Test func `every kind of problem is in it`() {
    let text = String(decoding: OpenAPI.document, as: UTF8.self)
    for kind in Problem.Kind.allCases { #expect(text.contains("\"\(kind.uri)\""), "\(kind)") }
  }
}
