import Catalog
import Feed
import Foundation
import Logging
import ModelStore
import Observability
import Synchronization
import TestSupport
import Testing

@testable import FeedServer

/// Webhooks: their file, what they send, and what becomes of what is not taken.
@Suite struct WebhookTests {
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let other = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"

  // MARK: The file

  @Test func `a file names targets`() throws {
    let targets = try WebhookFile.targets(
      in: """
        # those who copy
        search  https://search.example/changed?key=1  \(Self.secret)

        mirror  http://mirror.example:8080  \(Self.secret)  \(Self.other)  batch=1000
        """, allowsPrivateAddresses: false)
    #expect(targets.map(\.name) == ["search", "mirror"])
    #expect(
      targets.map(\.post.origin) == ["https://search.example", "http://mirror.example:8080"])
    #expect(targets.map(\.batch) == [100, 1_000])
    #expect(targets.map(\.secrets.count) == [1, 2])
  }

  @Test(
    arguments: [
      ("", nil, "the file has no webhook"), ("# none\n", nil, "the file has no webhook"),
      ("a https://x.example/", 1, "expected a name, a URL and a secret"),
      ("\na/b https://x.example/ SECRET", 2, "the name must be 1 to 64"),
      ("a ftp://x.example/ SECRET", 1, "the URL cannot be used: the scheme ftp is not"),
      ("a https:x SECRET", 1, "the URL cannot be used"),
      ("a http://127.0.0.1/ SECRET", 1, "the URL's address is private"),
      ("a https://[::1]/ SECRET", 1, "the URL's address is private"),
      ("a https://x.example/ whsec_x", 1, "a secret must be whsec_"),
      ("a https://x.example/ MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1, "a secret must be whsec_"),
      ("a https://x.example/ batch=5", 1, "it has 0 secrets"),
      ("a https://x.example/ SECRET batch=0", 1, "batch is not a number from 1 to 1000"),
      ("a https://x.example/ SECRET batch=1 batch=2", 1, "a secret must be whsec_"),
      ("a https://x.example/ SECRET SECRET SECRET", 1, "it has 3 secrets"),
      (
        "a https://x.example/ SECRET\na https://y.example/ SECRET", 2,
        "a webhook \"a\" is already defined"
      ),
    ] as [(String, Int?, String)])
  func `what is wrong is said by line`(_ text: String, _ line: Int?, _ words: String) throws {
    let text = text.replacing("SECRET", with: Self.secret)
    let error = #expect(throws: WebhookFileError.self) {
      try WebhookFile.targets(in: text, allowsPrivateAddresses: false)
    }
    #expect(
      error?.line == line && error?.problem.hasPrefix(words) == true, "\(String(describing: error))"
    )
    #expect(error.map { !"\($0)".contains("MfKQ") } == true)
  }

  @Test func `the signature is that of Standard Webhooks`() throws {
    let target = try #require(
      try WebhookFile.targets(
        in: "a https://x.example/ \(Self.secret) \(Self.other)", allowsPrivateAddresses: false
      ).first)
    let fields = target.fields(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
      body: Array(#"{"test": 2432232314}"#.utf8))
    #expect(fields[0] == "webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek")
    #expect(fields[1] == "webhook-timestamp: 1614265330")
    // By another implementation, in Python.
    #expect(
      fields[2].hasPrefix(
        "webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v1,"))
  }

  // MARK: Sending

  /// What a target has taken.
  private struct Message {
    let id: String
    let type: String
    let names: [String]
  }

  private static func message(_ question: LoopbackServer.Question) -> Message {
    let json = try? JSONSerialization.jsonObject(with: Data(question.body)) as? [String: Any]
    let data = json?["data"] as? [String: Any]
    let changes = data?["changes"] as? [[String: Any]] ?? []
    return Message(
      id: question.fields["webhook-id"] ?? "", type: json?["type"] as? String ?? "",
      names: changes.map { ($0["id"] ?? $0["name"]) as? String ?? "" })
  }

  /// A server that tells one target, impatiently.
  private static func server(
    _ store: ModelStore, at url: URL, batch: Int = 100
  ) throws -> RunningServer {
    let targets = try WebhookFile.targets(
      in: "copy \(url.absoluteString)/hook \(Self.secret) batch=\(batch)",
      allowsPrivateAddresses: true)
    return try RunningServer(on: store) { configuration in
      configuration.webhooks.targets = targets
      configuration.webhooks.lookMilliseconds = 5
      configuration.webhooks.firstRetryMilliseconds = 5
      configuration.webhooks.leaseMilliseconds = 300
      configuration.writeTokens = .only("t-token")
    }
  }

  /// Waits until the store has a position of the target.
  private static func waitUntilKnown(_ store: ModelStore) throws {
    #expect(try eventually { try !store.webhooks().isEmpty })
  }

  private static func isIdle(_ store: ModelStore) throws -> Bool {
    let now = try store.changes(after: nil, through: nil, limit: 1, withItems: false).next
    let state = try store.webhooks().first
    return state?.end == nil && state?.position == now
  }

  @Test func `a target is told each change in order, and again what it did not take`() throws {
    let store = ModelStore()
    try store.load([.ranked("old", 1)])
    // Every other message is refused, in all ways that there are.
    let target = try LoopbackServer { question in
      switch question.number % 6 {
      case 1: LoopbackServer.Reply(status: "500 Broken")
      case 3: LoopbackServer.Reply(status: "302 Found", fields: [("Location", "/other")])
      case 5: LoopbackServer.Reply([])
      default: LoopbackServer.Reply(status: "204 No Content", fields: [("Content-Length", "0")])
      }
    }
    let server = try Self.server(store, at: target.url, batch: 1)
    try Self.waitUntilKnown(store)
    let ids = (1...6).map { "p\($0)" }
    for (rank, id) in ids.enumerated() { try store.load([.ranked(id, rank + 2)]) }
    #expect(try eventually { try Self.isIdle(store) })
    let messages = target.questions.map(Self.message)
    let taken = target.questions.indices.filter { $0 % 2 == 0 }.map { messages[$0] }
    #expect(taken.flatMap(\.names) == ids, "\(messages)")
    #expect(Set(taken.map(\.id)).count == ids.count)
    // What was refused came again under the same id, and nothing in between.
    for number in messages.indices.dropLast() where number % 2 == 1 {
      #expect(messages[number].id == messages[number + 1].id)
      #expect(messages[number].names == messages[number + 1].names)
    }
    #expect(target.questions.allSatisfy { $0.target == "/hook" })
    for question in target.questions {
      #expect(question.fields["content-type"] == "application/json")
      let time = Int(question.fields["webhook-timestamp"] ?? "") ?? 0
      let known = try #require(
        try WebhookFile.targets(
          in: "a https://x.example/ \(Self.secret)", allowsPrivateAddresses: false
        ).first)
      let fields = known.fields(
        id: question.fields["webhook-id"] ?? "", timestamp: time, body: question.body)
      #expect(fields[2] == "webhook-signature: \(question.fields["webhook-signature"] ?? "")")
    }
    let client = try server.client()
    let told = try client.request("GET", "/v1/webhooks", ["Authorization": "Bearer t-token"])
    #expect(told.status == 200 && !told.text.contains("whsec") && !told.text.contains("hook\""))
    let listed = try #require(told.value("webhooks", as: [[String: Any]].self)?.first)
    #expect(listed["name"] as? String == "copy" && listed["failures"] as? Int == 0)
    #expect(listed["lastSuccess"] != nil && listed["behindSince"] == nil)
    #expect(
      listed["lastProblem"] as? String == "it answered 500"
        || listed["lastProblem"] as? String == "it answered 302" || listed["lastProblem"] != nil)
    let figures = try client.get("/metrics").text
    #expect(figures.contains("lookahead_webhook_messages_total{webhook=\"copy\"} 6"), "\(figures)")
    #expect(figures.contains("lookahead_webhook_lag_seconds{webhook=\"copy\"} 0"))
  }

  @Test(
    arguments: [
      ("0", 0), ("120", 120), ("99999999999999999999", .max), ("", nil), ("-1", nil), ("1.5", nil),
      ("Thu, 26 Nov 2026 06:00:30 GMT", 30), ("Thu, 26 Nov 2026 05:00:00 GMT", 0), ("soon", nil),
    ] as [(String, Int?)])
  func `what Retry-After says`(_ text: String, _ seconds: Int?) {
    #expect(WebhookKeeper.seconds(text, from: 1_795_672_800) == seconds)
  }

  @Test(
    arguments: [
      ("503 Busy", "7", 7_000), ("429 Too Many", "86400", 3_600_000), ("500 Broken", "7", nil),
      ("503 Busy", "soon", nil),
    ] as [(String, String, Int64?)])
  func `a target that names a time is left alone until then, within bounds`(
    _ status: String, _ retryAfter: String, _ milliseconds: Int64?
  ) throws {
    let store = ModelStore()
    let target = try LoopbackServer { question in
      question.number == 0
        ? LoopbackServer.Reply(status: status, fields: [("Retry-After", retryAfter)])
        : LoopbackServer.Reply(status: "204 No Content")
    }
    let server = try Self.server(store, at: target.url)
    defer { withExtendedLifetime(server) {} }
    try Self.waitUntilKnown(store)
    try store.load([.ranked("p", 1)])
    guard let milliseconds else {
      #expect(try eventually { try Self.isIdle(store) })
      return
    }
    #expect(try eventually { try store.webhooks().first?.nextAttempt != nil })
    let state = try #require(try store.webhooks().first)
    #expect(try #require(state.nextAttempt) - #require(state.lastFailure) == milliseconds)
    #expect(target.questions.count == 1)
  }

  @Test func `another server goes on where one ended, and one of two sends`() throws {
    let store = ModelStore()
    let target = try LoopbackServer { _ in
      LoopbackServer.Reply(status: "200 OK")
    }
    var servers = try (0..<2).map { _ in try Self.server(store, at: target.url) }
    try Self.waitUntilKnown(store)
    var names: [String] = []
    for round in 0..<3 {
      try store.load([.ranked("p\(round)", round)])
      names.append("p\(round)")
      #expect(try eventually { try Self.isIdle(store) })
      if !servers.isEmpty { servers.removeFirst() }
      if servers.isEmpty { servers.append(try Self.server(store, at: target.url)) }
    }
    let messages = target.questions.map(Self.message)
    var seen: Set<String> = []
    let told = messages.filter { seen.insert($0.id).inserted }.flatMap(\.names)
      .filter { $0 != "featured" }
    #expect(told == names)
  }

  @Test func `who was away for too long is told so once`() throws {
    let store = ModelStore()
    try store.keepChanges(10)
    let isBack = Mutex(false)
    let target = try LoopbackServer { _ in
      LoopbackServer.Reply(status: isBack.withLock { $0 } ? "200 OK" : "503 Away")
    }
    let server = try Self.server(store, at: target.url)
    // The server has set its own.
    #expect(eventually { store.keptChanges == 200_000 })
    try store.keepChanges(10)
    try Self.waitUntilKnown(store)
    try store.load((0..<30).map { .ranked("p\($0)", $0) })
    #expect(try eventually { try store.webhooks().first?.isReset == true })
    isBack.withLock { $0 = true }
    #expect(try eventually { try Self.isIdle(store) })
    let resets = target.questions.map(Self.message).filter { $0.type == "reset" }
    #expect(!resets.isEmpty && Set(resets.map(\.id)).count == 1)
    let before = target.questions.count
    try store.load([.ranked("last", 99)])
    #expect(try eventually { try Self.isIdle(store) })
    let last = target.questions.dropFirst(before).map(Self.message)
    #expect(last.flatMap(\.names) == ["last"] && last.allSatisfy { $0.type == "changes" })
    let figures = try server.client().get("/metrics").text
    #expect(figures.contains("lookahead_webhook_resets_total{webhook=\"copy\"} 1"))
  }
}
