import Sockets
import System
import TestSupport
import Testing

@testable import ShapedLink

@Suite struct ShapedLinkTests {
  private static let fast = LinkSchedule(
    LinkConditions(downlinkKbps: 1_000_000, uplinkKbps: 1_000_000))

  /// A packet takes 10 ms each way.
  private static func slow(latencyMilliseconds: Int = 0) -> LinkSchedule {
    LinkSchedule(
      LinkConditions(
        downlinkKbps: 1168, uplinkKbps: 1168, latencyMicroseconds: latencyMilliseconds * 1000))
  }

  @Test func `bytes come through as they are, on many connections at once`() async throws {
    let server = try ByteServer()
    let link = try ShapedLink(toPort: server.port, Self.fast)
    defer { link.stop() }
    let port = link.port
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 1...8 {
        group.addTask {
          let client = try ClientSocket(port: port)
          defer { client.close() }
          try client.send(ByteServer.question(number * 50_001))
          return try client.receiveAll() == ByteServer.answer(number * 50_001)
        }
      }
      for try await isSame in group { #expect(isSame) }
    }
    #expect(link.wait(atMostMilliseconds: 600_000) { $0.openConnections == 0 })
    #expect(link.figures.acceptedConnections == 8 && link.figures.upBytes == 64)
    #expect(link.figures.downBytes == (1...8).reduce(0) { $0 + $1 * 50_001 })
  }

  @Test func `losses change no byte, and faster time ends sooner`() throws {
    let server = try ByteServer()
    let link = try ShapedLink(
      toPort: server.port,
      LinkSchedule(
        LinkConditions(
          downlinkKbps: 4000, uplinkKbps: 4000, latencyMicroseconds: 20_000, lossPercent: 10)),
      pace: .realTime(speed: 100))
    defer { link.stop() }
    let client = try ClientSocket(port: link.port)
    defer { client.close() }
    try client.send(ByteServer.question(300_000))
    #expect(try client.receiveAll() == ByteServer.answer(300_000))
    #expect(link.figures.lostPackets > 5)
    // 300 KB take 0.6 s at this rate, if nothing were lost.
    #expect(link.figures.nanoseconds > 530_000_000)
  }

  @Test func `by hand, time brings what the rate and the latency allow, and not a byte more`()
    throws
  {
    let server = try ByteServer()
    let link = try ShapedLink(
      toPort: server.port, Self.slow(latencyMilliseconds: 50), pace: .byHand)
    defer { link.stop() }
    let client = try ClientSocket(port: link.port)
    defer { client.close() }
    #expect(link.wait(atMostMilliseconds: 600_000) { $0.openConnections == 1 })
    try client.send(ByteServer.question(100_000))
    // Whenever the question is read: it leaves at 100 ms, when the connection is set up, or later.
    link.pass(milliseconds: 149)
    #expect(link.figures.upBytes == 0)
    // Bytes that the relay has not read yet wait for it, not for time.
    while link.figures.upBytes < 8 { link.pass(milliseconds: 1) }
    let asked = link.figures.nanoseconds
    #expect(link.figures.downBytes == 0)
    while link.figures.downBytes == 0 { link.pass(milliseconds: 1) }
    #expect(link.figures.nanoseconds - asked >= 50_000_000)
    // Ten packets are the first window; one of them was there.
    link.pass(milliseconds: 30)
    #expect(link.figures.downBytes == 4 * 1460)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var got: [UInt8] = []
    while got.count < 4 * 1460 { got += buffer[..<(try client.receive(into: &buffer))] }
    #expect(got == Array(ByteServer.answer(100_000).prefix(4 * 1460)))
    link.pass(milliseconds: 3000)
    got += try client.receiveAll()
    #expect(got == ByteServer.answer(100_000))
  }

  @Test func `a client that goes ends the server's connection`() throws {
    let server = try ByteServer()
    let link = try ShapedLink(
      toPort: server.port, Self.slow(), pace: .realTime(speed: 10))
    defer { link.stop() }
    let client = try ClientSocket(port: link.port)
    try client.send(ByteServer.question(30_000_000))
    #expect(link.wait(atMostMilliseconds: 600_000) { $0.downBytes > 0 })
    client.close()
    #expect(link.wait(atMostMilliseconds: 600_000) { $0.openConnections == 0 })
    let isEnded = server.state.wait(atMostMilliseconds: 600_000) {
      $0.openConnections == 0 ? true : nil
    }
    #expect(isEnded == true)
    #expect(link.figures.downBytes < 30_000_000)
  }

  @Test func `a client that has said all still gets its answer`() throws {
    let server = try ByteServer()
    let link = try ShapedLink(toPort: server.port, Self.fast)
    defer { link.stop() }
    let client = try ClientSocket(port: link.port)
    defer { client.close() }
    try client.send(ByteServer.question(200_000))
    try client.finishSending()
    #expect(try client.receiveAll() == ByteServer.answer(200_000))
  }

  @Test func `where there is no server, the connection ends`() throws {
    let unused = try ListeningSocket.open(host: "127.0.0.1", port: 0, count: 1, backlog: 1)[0]
    unused.close()
    let link = try ShapedLink(toPort: unused.address.port, Self.fast)
    defer { link.stop() }
    let client = try ClientSocket(port: link.port)
    defer { client.close() }
    #expect(try client.receiveAll() == [])
    #expect(link.wait(atMostMilliseconds: 600_000) { $0.openConnections == 0 })
  }

  @Test func `one connection more than there may be waits for its turn`() throws {
    let server = try ByteServer()
    var limits = LinkLimits()
    limits.connections = 2
    let link = try ShapedLink(toPort: server.port, Self.fast, limits: limits)
    defer { link.stop() }
    var clients = try (0..<3).map { _ in try ClientSocket(port: link.port) }
    defer { for client in clients { client.close() } }
    #expect(link.wait(atMostMilliseconds: 600_000) { $0.openConnections == 2 })
    try clients[2].send(ByteServer.question(10))
    try clients[0].send(ByteServer.question(10))
    #expect(try clients[0].receiveAll() == ByteServer.answer(10))
    #expect(link.figures.acceptedConnections == 2)
    // Closed once: its number may be another's by then.
    clients.removeFirst().close()
    #expect(try clients[1].receiveAll() == ByteServer.answer(10))
    #expect(link.figures.acceptedConnections == 3)
  }

  @Test func `an offline link brings nothing, and what waits when it is online`() throws {
    let server = try ByteServer()
    let link = try ShapedLink(
      toPort: server.port, LinkSchedule(LinkConditions(downlinkKbps: 0, uplinkKbps: 0)),
      pace: .byHand)
    defer { link.stop() }
    let client = try ClientSocket(port: link.port)
    defer { client.close() }
    try client.send(ByteServer.question(10))
    link.pass(milliseconds: 1000)
    #expect(link.figures.upBytes == 0)
    link.change(to: Self.fast)
    while link.figures.downBytes < 10 { link.pass(milliseconds: 1) }
    #expect(link.figures.upBytes == 8)
    #expect(try client.receiveAll() == ByteServer.answer(10))
  }

  @Test func `a link that is stopped ends its connections and is no more there`() throws {
    let server = try ByteServer()
    let link = try ShapedLink(toPort: server.port, Self.slow())
    let client = try ClientSocket(port: link.port)
    defer { client.close() }
    try client.send(ByteServer.question(30_000_000))
    #expect(link.wait(atMostMilliseconds: 600_000) { $0.downBytes > 0 })
    link.stop()
    _ = try? client.receiveAll()
    #expect(throws: SystemError.self) { try ClientSocket(port: link.port) }
    link.stop()
  }
}
