import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// Writes to the program as it runs, and as it ends in the middle of them.
@Suite struct ServeWritesTests {
  let program = Program()
  private static let token = ["LOOKAHEAD_WRITE_TOKEN": "token-1"]
  private static let authorization = ["Authorization": "Bearer token-1"]

  /// Puts items and counts on one until the server is gone; what was answered.
  private struct Answered: Sendable {
    var items: [String] = []
    var likes = 0
  }

  private func write(
    to port: UInt16, workers: Int, after enough: Int, _ end: @escaping @Sendable () -> Void
  ) -> Answered {
    let all = Mutex(Answered())
    DispatchQueue.concurrentPerform(iterations: workers) { worker in
      guard let client = try? TestClient(port: port) else { return }
      for number in 0..<10_000 {
        let id = "w\(worker)-\(number)"
        guard
          let put = try? client.request(
            "PUT", "/v1/items/\(id)", Self.authorization,
            body: #"{"type":"image","feeds":[{"name":"f","rank":1}]}"#)
        else { return }
        #expect(put.status == 201 || put.status == 503, "\(put.text)")
        if put.status == 201 {
          let isEnough = all.withLock { answered in
            answered.items.append(id)
            return answered.items.count == enough
          }
          if isEnough { end() }
        }
        guard
          let count = try? client.request(
            "POST", "/v1/items/counted/counters", Self.authorization, body: #"{"likes":1}"#)
        else { return }
        #expect(count.status == 200 || count.status == 503, "\(count.text)")
        if count.status == 200 { all.withLock { $0.likes += 1 } }
        if put.fields["connection"] == "close" || count.fields["connection"] == "close" { return }
      }
    }
    return all.withLock { $0 }
  }

  private func startCounting() throws -> ServingProgram {
    let server = try ServingProgram(program, environment: Self.token)
    let put = try TestClient(port: server.port).request(
      "PUT", "/v1/items/counted", Self.authorization, body: #"{"type":"image"}"#)
    try #require(put.status == 201)
    return server
  }

  private func expect(_ answered: Answered) throws {
    #expect(answered.items.count >= 100)
    let server = try ServingProgram(program)
    let client = try TestClient(port: server.port)
    for id in answered.items { #expect(try client.get("/v1/items/\(id)").status == 200, "\(id)") }
    let likes: Int = try #require(try client.get("/v1/items/counted").value("counters.likes"))
    // One more for each writer may have been done and not answered.
    #expect((answered.likes...(answered.likes + 4)).contains(likes))
    #expect(server.terminate() == 0)
    #expect(try program.run("check").status == 0)
  }

  @Test func `every answered write is there after a kill`() throws {
    let server = try startCounting()
    let identifier = server.process.processIdentifier
    try expect(
      write(to: server.port, workers: 4, after: 150) { kill(identifier, SIGKILL) })
  }

  @Test func `SIGTERM loses no write that was answered, and the status is 0`() throws {
    let server = try startCounting()
    let identifier = server.process.processIdentifier
    let answered = write(to: server.port, workers: 4, after: 150) { kill(identifier, SIGTERM) }
    server.process.waitUntilExit()
    #expect(server.process.terminationStatus == 0)
    try expect(answered)
  }

  @Test func `SIGTERM within an import ends it with its batch, and the status is 0`() throws {
    let server = try ServingProgram(
      program, ["--drain-timeout-milliseconds", "200", "--batch-records", "10"],
      environment: Self.token)
    let client = try TestClient(port: server.port)
    let lines = (0..<25).map {
      #"{"id":"p\#($0)","type":"image","feeds":[{"name":"f","rank":1}]}"# + "\n"
    }
    try client.send(
      Array(
        ("POST /v1/import HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n"
          + "Authorization: Bearer token-1\r\n\r\n" + lines.joined()).utf8))
    let reader = try TestClient(port: server.port)
    try eventually { try reader.get("/rp/?feed=f").itemIDs.count >= 20 }
    #expect(server.terminate() == 0)
    let check = try program.run("check")
    #expect(check.status == 0 && check.output.contains("f 20"), "\(check.output)")
  }

  @Test func `the token may stand in a file`() throws {
    let file = try program.folder.write("token-2\n", to: "token")
    let server = try ServingProgram(program, ["--write-token-file", file])
    let client = try TestClient(port: server.port)
    let cases = [("token-2", 201), ("token-2 ", 204), ("token-1", 401), ("token-2\\n", 401)]
    for (token, status) in cases {
      let answer = try client.request(
        "PUT", "/v1/items/a", ["Authorization": "Bearer \(token)"], body: #"{"type":"image"}"#)
      #expect(answer.status == status, "\(token)")
    }
  }
}
