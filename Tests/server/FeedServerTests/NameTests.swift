import HTTP
import JSON
import TestSupport
import Testing

/// Names and ids are bytes: those that only look the same are two, wherever they are written and read.
@Suite struct NameTests {
  /// Each line is one text to Swift's `==`.
  private static let families = [
    ["\u{e9}", "e\u{301}"], ["\u{c5}", "A\u{30a}", "\u{212b}"], ["K", "\u{212a}"],
    ["\u{ac00}", "\u{1100}\u{1161}"], ["\u{1e69}", "s\u{323}\u{307}", "s\u{307}\u{323}"],
  ]
  private static let names = families.joined().map { Array($0.utf8) }

  private typealias Name = [UInt8]

  /// What the server should have.
  private struct Model {
    var feeds: [Name: [Name: Int]] = [:]
    var counters: [Name: [Name: Int]] = [:]

    mutating func put(_ id: Name, in placements: [Name: Int], counters: [Name: Int], leaves: Bool) {
      if leaves { for feed in feeds.keys { feeds[feed]?[id] = nil } }
      for (feed, rank) in placements { feeds[feed, default: [:]][id] = rank }
      self.counters[id] = counters
    }

    mutating func delete(_ id: Name) {
      for feed in feeds.keys { feeds[feed]?[id] = nil }
      counters[id] = nil
    }

    func ids(_ feed: Name) -> [Name] {
      (feeds[feed] ?? [:]).sorted {
        $0.value != $1.value ? $0.value < $1.value : $0.key.lexicographicallyPrecedes($1.key)
      }.map(\.key)
    }
  }

  private static func text(_ name: Name) -> String { String(decoding: name, as: UTF8.self) }

  private static func segment(_ name: Name) -> String {
    PercentEncoding.encode(text(name), for: .pathSegment)
  }

  private static func body(
    _ id: Name?, _ placements: [Name: Int], _ counters: [Name: Int]
  ) -> String {
    var writer = JSONWriter()
    writer.object { writer in
      if let id { writer.member("id", text(id)) }
      writer.member("type", "image")
      writer.key("feeds")
      writer.array { writer in
        for (feed, rank) in placements {
          writer.object { writer in
            writer.member("name", text(feed))
            writer.member("rank", rank)
          }
        }
      }
      writer.key("counters")
      writer.object { writer in
        for (name, value) in counters {
          writer.key(text: text(name))
          writer.integer(value)
        }
      }
    }
    return text(writer.bytes)
  }

  private static func some(_ random: inout TestRandom, _ range: ClosedRange<Int>) -> [Name: Int] {
    var values: [Name: Int] = [:]
    for name in names where random.chance(40) { values[name] = random.number(range) }
    return values
  }

  private static func change(
    _ client: TestClient, _ model: inout Model, _ random: inout TestRandom
  ) throws {
    let id = random.one(of: names)
    let item = "/v1/items/\(segment(id))"
    let isThere = model.counters[id] != nil
    switch random.number(0...5) {
    case 0:
      let answer = try client.request("DELETE", item, WriteTests.authorized)
      #expect(answer.status == (isThere ? 204 : 404), TestRandom.replay)
      model.delete(id)
    case 1:
      let name = random.one(of: names)
      let answer = try client.request(
        "POST", item + "/counters", WriteTests.authorized,
        body: "{\"\(text(name))\":2}")
      #expect(answer.status == (isThere ? 200 : 404), TestRandom.replay)
      if isThere { model.counters[id]?[name, default: 0] += 2 }
    case 2:
      var lines = ""
      for id in Set((0..<4).map { _ in random.one(of: names) }) {
        let (placements, counters) = (some(&random, 0...20), some(&random, 0...9))
        lines += body(id, placements, counters) + "\n"
        model.put(id, in: placements, counters: counters, leaves: false)
      }
      let answer = try client.request("POST", "/v1/import", WriteTests.authorized, body: lines)
      #expect(answer.status == 200 && answer.value("refused") == 0, TestRandom.replay)
    default:
      let (placements, counters) = (some(&random, 0...20), some(&random, 0...9))
      let answer = try client.request(
        "PUT", item, WriteTests.authorized, body: body(nil, placements, counters))
      #expect(answer.status == (isThere ? 204 : 201), "\(answer.text), \(TestRandom.replay)")
      model.put(id, in: placements, counters: counters, leaves: true)
    }
  }

  private static func document(_ client: TestClient, _ target: String) throws -> JSONValue {
    let answer = try client.get(target)
    try #require(answer.status == 200, "\(target): \(answer.text), \(TestRandom.replay)")
    return try JSONDocument(answer.body).root
  }

  private static func ids(_ page: JSONValue) -> [Name] {
    page.member("items")?.elements.map { Array($0.member("id")?.text?.utf8 ?? "".utf8) } ?? []
  }

  private static func check(_ client: TestClient, _ model: Model) throws {
    let feeds = try document(client, "/v1/feeds").member("feeds")?.elements.map {
      Array($0.member("name")?.text?.utf8 ?? "".utf8)
    }
    #expect(
      feeds == model.feeds.keys.sorted { $0.lexicographicallyPrecedes($1) }, TestRandom.replay)
    for feed in model.feeds.keys {
      let ids = model.ids(feed)
      let route = "/v1/feeds/\(segment(feed))"
      let page = try document(client, route + "/items?limit=100")
      #expect(Self.ids(page) == ids, TestRandom.replay)
      #expect(page.member("feed")?.member("total")?.wholeNumber == ids.count, TestRandom.replay)
      #expect(page.member("feed")?.member("name")?.text.map { Array($0.utf8) } == feed)
      for id in ids.prefix(4) {
        let query =
          "?leading=0&trailing=0&around=\(PercentEncoding.encode(text(id), for: .queryValue))"
        #expect(Self.ids(try document(client, route + "/items" + query)) == [id], TestRandom.replay)
      }
      var walked: [Name] = []
      var next: String? = route + "/items?limit=3"
      while let target = next {
        let page = try document(client, target)
        walked += Self.ids(page)
        next = page.member("paging")?.member("links")?.member("next")?.text
      }
      #expect(walked == ids, TestRandom.replay)
    }
    for id in names {
      let answer = try client.get("/v1/items/\(segment(id))")
      #expect(answer.status == (model.counters[id] == nil ? 404 : 200), TestRandom.replay)
      guard let counters = model.counters[id] else { continue }
      let read = try JSONDocument(answer.body).root.member("counters")?.members.map {
        (Array($0.name.utf8), $0.value.wholeNumber ?? -1)
      }
      #expect(Dictionary(uniqueKeysWithValues: read ?? []) == counters, TestRandom.replay)
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `names that only look the same are told apart by every route`(seed: UInt64) throws {
    var random = TestRandom(seed)
    let service = try WriteTests.service()
    let client = try service.client()
    // One that starts afterwards reads the same.
    var model = Model()
    for round in 0..<24 {
      try Self.change(client, &model, &random)
      if round % 3 == 0 { try Self.check(client, model) }
    }
    try Self.check(client, model)
    let other = try RunningServer(on: service.store)
    try Self.check(try other.client(), model)
  }
}
