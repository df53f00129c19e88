import Foundation
import PostgresTestSupport
import TestSupport
import Testing

/// Servers that read a standby, as clients see them: one writes, two others keep nothing in memory that they can leave out.
@Suite(.serialized, .enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct StandbyServingTests {
  private static let token = "a-token-of-the-tests"
  private let program = Program()
  private let pair: PostgresPair

  init() throws { pair = try PostgresPair() }

  /// - Parameter isReader: reads the standby, and keeps no pages and items.
  private func server(isReader: Bool) throws -> ServingProgram {
    var environment = [
      "LOOKAHEAD_DATABASE": pair.address, "LOOKAHEAD_WRITE_TOKEN": Self.token,
    ]
    if isReader {
      environment["LOOKAHEAD_STANDBY_DATABASE"] = pair.standby.address
      environment["LOOKAHEAD_ITEM_FILE_BYTES"] = "0"
      environment["LOOKAHEAD_ENCODED_MEMORY_BYTES"] = "0"
      environment["LOOKAHEAD_ORDER_MEMORY_BYTES"] = "1048576"
    }
    return try ServingProgram(program, environment: environment)
  }

  private func put(_ client: TestClient, _ id: String, _ rank: Int) throws -> TestAnswer {
    try client.request(
      "PUT", "/v1/items/\(id)", ["Authorization": "Bearer \(Self.token)"],
      body: #"{"type":"text","title":"\#(id)","feeds":[{"name":"lagged","rank":\#(rank)}]}"#)
  }

  /// A figure of a server; 0 where it is not told.
  private func figure(_ name: String, _ client: TestClient) throws -> Int {
    let lines = try client.get("/metrics").text.split(separator: "\n")
    let line = lines.first { $0.hasPrefix(name + " ") }
    return line.flatMap { Double($0.split(separator: " ")[1]) }.map { Int($0) } ?? 0
  }

  private func reads(_ outcome: String, _ client: TestClient) throws -> Int {
    try figure("lookahead_postgres_standby_reads_total{outcome=\"\(outcome)\"}", client)
  }

  private func wait(_ comment: Comment, _ isSo: () throws -> Bool) throws {
    #expect(try eventually(isSo), comment)
  }

  /// So long that the orders of two feeds have no room together.
  private static func longID(_ number: Int) -> String {
    String(repeating: "an-item-", count: 8) + "\(number)"
  }

  /// The record of an item whose feed is ordered by time, so that what is new changes no ranking.
  private static func timed(_ number: Int, feed: Int) -> String {
    let time = Date(timeIntervalSince1970: 1_700_000_000 - Double(number))
      .formatted(.iso8601)
    return #""type":"text","publishedAt":"\#(time)","feeds":[{"name":"big\#(feed)"}]}"#
  }

  /// A counter that rises, and a feed whose order is not in memory that grows at its end: both are seen.
  private func expectChange(at reader: TestClient, by writer: TestClient) throws {
    let authorized = ["Authorization": "Bearer \(Self.token)"]
    // One that the standby has, as it was.
    let shown: Int = try reader.get("/v1/items/\(Self.longID(6))").value("counters.likes") ?? 0
    let counted = try writer.request(
      "POST", "/v1/items/\(Self.longID(6))/counters", authorized, body: #"{"likes":5}"#)
    #expect(counted.status == 200, "\(counted.text)")
    try wait("the counter is seen") {
      let page = try reader.get("/rp/?feed=big0&limit=1&offset=3")
      let items: [[String: Any]] = page.value("items") ?? []
      return (items.first?["counters"] as? [String: Int])?["likes"] == shown + 5
    }
    let total: Int = try #require(reader.get("/v1/feeds/big0").value("total"))
    let made = try writer.request(
      "PUT", "/v1/items/end-\(total)", authorized,
      body: "{" + Self.timed(total * 2, feed: 0))
    #expect(made.status == 201, "\(made.text)")
    try wait("the end of the feed is known") {
      try reader.get("/v1/feeds/big0").value("total") == total + 1
    }
    // From now on no page is without it, wherever the order of the feed comes from.
    for _ in 0..<20 {
      _ = try reader.get("/rp/?feed=big1&limit=5")
      let page = try reader.get("/rp/?feed=big0&limit=5&offset=\(total - 2)")
      #expect(page.itemIDs.count == 3 && page.itemIDs.last == "end-\(total)", "\(page.text)")
    }
  }

  private func walk(_ client: TestClient, _ feed: String) throws -> [String] {
    var (ids, target) = ([String](), "/rp/?feed=\(feed)&limit=7")
    while true {
      let page = try client.get(target)
      guard page.status == 200 else { throw TestClientError(message: page.text) }
      ids += page.itemIDs
      guard let next: String = page.value("paging.next") else { return ids }
      target = "/rp/?feed=\(feed)&limit=7&after=\(next)"
    }
  }

  @Test func `a standby that is behind ends no feed early and denies nothing`() throws {
    let input = (0..<24_000).map { #"{"id":"\#(Self.longID($0))","# + Self.timed($0, feed: $0 % 2) }
    let seeding = try program.run(
      "seed", try program.folder.write(input.joined(separator: "\n"), to: "big.ndjson"),
      environment: ["LOOKAHEAD_DATABASE": pair.address])
    #expect(seeding.status == 0, "\(seeding.errors)")
    let servers = try [false, true, true].map { try server(isReader: $0) }
    let clients = try servers.map { try TestClient(port: $0.port) }
    let (writer, readers) = (clients[0], clients.dropFirst())
    try pair.letStandbyFollow()
    for reader in readers {
      try wait("the standby is read") {
        _ = try reader.get("/rp/?feed=big0&limit=3")
        return try reads("answered", reader) > 0
      }
    }
    pair.holdStandby()
    var expected: [String] = []
    for number in 0..<30 {
      // The last one of its rank goes to the end.
      #expect(try put(writer, "lagged-\(number)", number).status == 201)
      expected.append("lagged-\(number)")
      for reader in readers {
        let item = try reader.get("/v1/items/lagged-\(number)")
        #expect(item.status == 200, "\(item.text)")
        // Feeds whose order is not in memory, one after the other.
        for feed in 0..<2 {
          let offset = (number * 397) % 11_990
          let page = try reader.get("/rp/?feed=big\(feed)&limit=5&offset=\(offset)")
          let ids = (offset..<offset + 5).map { Self.longID($0 * 2 + feed) }
          #expect(page.itemIDs == ids, "\(page.text)")
        }
      }
    }
    for reader in readers {
      try wait("what was written is seen") {
        try reader.get("/v1/feeds/lagged").value("total") == expected.count
      }
      #expect(try walk(reader, "lagged") == expected)
      for offset in stride(from: 0, to: 30, by: 4) {
        let page = try reader.get("/rp/?feed=lagged&limit=4&offset=\(offset)")
        #expect(page.itemIDs == Array(expected[offset..<min(offset + 4, 30)]))
      }
      try expectChange(at: reader, by: writer)
      #expect(try reads("behind", reader) > 0 && reads("answered", reader) > 0)
      #expect(try figure("lookahead_postgres_standby_up", reader) == 1)
      try wait("the lag is told") {
        try figure("lookahead_postgres_standby_lag_bytes", reader) > 0
          && figure("lookahead_postgres_standby_lag_milliseconds", reader) > 0
      }
    }
    try pair.letStandbyFollow()
    for reader in readers {
      try wait("the lag is over") {
        try figure("lookahead_postgres_standby_lag_milliseconds", reader) == 0
      }
      let before = try reads("answered", reader)
      #expect(try walk(reader, "lagged") == expected)
      #expect(try reads("answered", reader) > before)
    }
    #expect(try figure("lookahead_postgres_standby_up", writer) == 0)
    for server in servers { #expect(server.terminate() == 0) }
  }

  @Test func `without a primary the standby is shown, and once it is promoted, written to`() throws
  {
    let servers = try [false, true].map { try server(isReader: $0) }
    let clients = try servers.map { try TestClient(port: $0.port) }
    for number in 0..<20 { #expect(try put(clients[0], "p\(number)", number).status == 201) }
    try pair.letStandbyFollow()
    try wait("the standby is read, and has everything") {
      _ = try clients[1].get("/v1/items/p1")
      let page = try clients[1].get("/rp/?feed=lagged&limit=30")
      return try page.itemIDs.count == 20 && reads("answered", clients[1]) > 0
    }
    pair.holdStandby()
    #expect(try put(clients[0], "late", 99).status == 201)
    try wait("the last write is seen") {
      try clients[1].get("/v1/feeds/lagged").value("total") == 21
    }
    try pair.letStandbyReceive()
    try pair.primary.kill()
    // What it has is shown; what it does not have yet is not denied.
    let page = try clients[1].get("/rp/?feed=lagged&limit=5&offset=10")
    #expect(page.status == 200 && page.itemIDs == (10..<15).map { "p\($0)" }, "\(page.text)")
    for target in ["/v1/items/late", "/v1/items/nowhere", "/rp/?feed=lagged&limit=5&offset=18"] {
      let answer = try clients[1].get(target)
      #expect(
        answer.status == 503 && answer.fields["retry-after"] != nil, "\(target) \(answer.text)")
    }
    let refused = try put(clients[1], "refused", 100)
    #expect(refused.status == 503 && refused.fields["retry-after"] != nil, "\(refused.text)")
    #expect(try clients[1].get("/readyz").status == 200)

    // Ends the hold, too: what it received it has.
    try pair.standby.ask("SELECT pg_promote()")
    for client in clients {
      try wait("writes go on") { try put(client, "after", 100).status < 300 }
      try wait("what is not there is denied") {
        try client.get("/v1/items/nowhere").status == 404
      }
    }
    for client in clients {
      try wait("all is there") {
        try client.get("/v1/feeds/lagged").value("total") == 22
      }
      #expect(try walk(client, "lagged") == (0..<20).map { "p\($0)" } + ["late", "after"])
    }
    for server in servers { #expect(server.terminate() == 0) }
  }
}
