import HTTP
import Synchronization
import Testing

@testable import HTTPServer

/// An answer that is made as it leaves: asked for when there is room, and ended with its connection.
struct MachineStreamTests {
  /// What makes it.
  private final class Source: Sendable {
    /// What there is to be sent; nil in it is the end.
    let pieces = Mutex<[String?]>([])
    let ends = Mutex(0)

    func stream() -> ResponseStream {
      ResponseStream(
        next: { [self] isIdle in
          pieces.withLock { pieces in
            guard !pieces.isEmpty else { return Array((isIdle ? ":" : "").utf8) }
            return pieces.removeFirst().map { Array($0.utf8) }
          }
        },
        onEnd: { [self] in ends.withLock { $0 += 1 } })
    }

    func add(_ text: String?) { pieces.withLock { $0.append(text) } }
  }

  /// A world in which the one request is answered by a stream, and what is to be seen of it.
  private func world(
    _ source: Source, asking text: String = "GET /events HTTP/1.1\r\nHost: a\r\n\r\n",
    _ configure: (inout ServerConfiguration) -> Void = { _ in }
  ) -> MachineWorld {
    var world = MachineWorld {
      $0.streamIdleMilliseconds = 1000
      configure(&$0)
    }
    world.answersAtOnce = false
    world.send(text)
    world.settleDebts(answering: false)
    world.calls[0].isAnswered = true
    world.machine.answered(
      world.calls[0].exchange,
      Response(.ok, fields: ["Content-Type": "text/event-stream"], body: [.stream(source.stream())])
    )
    world.run()
    return world
  }

  private func text(_ world: MachineWorld) -> String {
    String(decoding: world.written, as: UTF8.self)
  }

  @Test func `the head has no length and ends the connection, and pieces follow as they come`() {
    let source = Source()
    source.add("first")
    var world = world(source)
    #expect(text(world).hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"))
    #expect(
      !text(world).contains("Content-Length") && text(world).contains("Connection: close\r\n"))
    #expect(text(world).hasSuffix("\r\n\r\nfirst") && world.machine.waiting == .stream)
    source.add(" second")
    world.wakeStream()
    #expect(text(world).hasSuffix("first second") && !world.isClosed)
    source.add(nil)
    world.wakeStream()
    #expect(world.hasFinishedSending && world.machine.isLingering)
    #expect(source.ends.withLock { $0 } == 1)
  }

  @Test func `a client that takes nothing has nothing queued for it`() {
    let source = Source()
    var world = world(source)
    world.window = 3
    for number in 0..<100 {
      source.add("piece \(number);")
      world.wakeStream()
    }
    // One piece is in the output; the rest is with whoever makes it.
    #expect(source.pieces.withLock { $0.count } == 99 && world.machine.output.byteCount <= 8)
    world.take(.max)
    #expect(text(world).hasSuffix("\r\n\r\npiece 0;") == false)
    for _ in 0..<99 { world.wakeStream() }
    #expect(text(world).hasSuffix("piece 98;piece 99;"))
  }

  @Test func `where nothing is sent for long, something is asked for, again and again`() {
    let source = Source()
    var world = world(source)
    let asked = world.streamAsks.count
    for _ in 0..<3 { world.pass(milliseconds: 1000) }
    #expect(text(world).hasSuffix("\r\n\r\n:::"))
    #expect(world.streamAsks[asked...].elementsEqual([true, true, true]))
    world.pass(milliseconds: 999)
    #expect(text(world).hasSuffix("\r\n\r\n:::"))
  }

  @Test func `a client that ends its side is gone`() {
    let source = Source()
    var world = world(source)
    world.clientHasFinished = true
    world.read()
    #expect(world.isClosed && !world.closing.isCutOff)
    #expect(source.ends.withLock { $0 } == 1)
  }

  @Test func `what comes behind the request is thrown away, as far as that has an end`() {
    let source = Source()
    var world = world(
      source,
      asking: "GET /events HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n"
    ) { $0.lingerBytes = 1000 }
    world.send(String(repeating: "x", count: 900))
    world.readAll()
    #expect(!world.isClosed)
    world.send(String(repeating: "x", count: 200))
    world.readAll()
    #expect(world.isClosed)
  }

  @Test func `a drain ends it behind what was made`() {
    let source = Source()
    source.add("last words")
    var world = world(source)
    world.machine.drainBegan(nowMilliseconds: world.around.nowMilliseconds)
    world.run()
    #expect(world.hasFinishedSending && text(world).hasSuffix("last words"))
    #expect(source.ends.withLock { $0 } == 1)
  }

  @Test(arguments: [
    "HEAD /events HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD /events HTTP/1.0\r\n\r\n",
  ])
  func `a HEAD is answered without it`(request: String) {
    let source = Source()
    let world = world(source, asking: request)
    #expect(text(world).hasSuffix("\r\n\r\n") && !text(world).contains("Content-Length"))
    #expect(world.streamAsks.isEmpty && source.ends.withLock { $0 } == 1)
  }

  @Test func `an answer for a client that is gone ends at once`() {
    let source = Source()
    var world = MachineWorld()
    world.answersAtOnce = false
    world.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
    world.settleDebts(answering: false)
    world.machine.disconnected()
    world.run()
    world.machine.answered(
      world.calls[0].exchange, Response(.ok, body: [.stream(source.stream())]))
    #expect(source.ends.withLock { $0 } == 1)
  }

  @Test func `the log's line comes at its end, with all that was sent`() throws {
    let source = Source()
    source.add("12345")
    var machine = world(source).machine
    #expect(!machine.hasDeparted)
    let early = machine.takeDeparted(nowNanoseconds: 1_000_000)
    #expect(early == nil)
    machine.disconnected()
    #expect(machine.hasDeparted)
    let written = machine.output.writtenCount
    let ended = machine.takeDeparted(nowNanoseconds: 2_000_000)
    let request = try #require(ended)
    #expect(!machine.hasDeparted)
    #expect(request.bytes == written && written > 5 && request.microseconds == 2000)
  }
}
