import HTTP
import TestSupport
import Testing

@testable import HTTPServer

/// What `BodyPaceTests` does over sockets, for every size: bodies around multiples of the stream's and the
/// read buffer at every pace. A body whose stream was full just as its last byte came once hung for ever.
struct MachineBodyPaceTests {
  enum Sending: CaseIterable { case together, lastByteAlone, pipelined, halfClosing }
  enum Reading: CaseIterable { case atOnce, whenFull }

  static func message(_ size: Int, chunkBytes: Int?) -> (head: String, body: String) {
    let content = String(repeating: "a", count: size)
    guard let chunkBytes else {
      return ("PUT /stream HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n", content)
    }
    var body = ""
    for start in stride(from: 0, to: size, by: chunkBytes) {
      let count = min(chunkBytes, size - start)
      body += String(count, radix: 16) + "\r\n" + String(repeating: "a", count: count) + "\r\n"
    }
    return (
      "PUT /stream HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", body + "0\r\n\r\n"
    )
  }

  @Test(arguments: [(16, 8), (8, 32), (16, 16)])
  func `bodies of every size come whole at every pace`(_ streamBytes: Int, _ readBytes: Int) {
    for size in TestRandom.some(30, of: Array(0...100)) {
      for chunkBytes in [nil, 10, 1] {
        for sending in Sending.allCases {
          for reading in Reading.allCases {
            check(size, chunkBytes, sending, reading, streamBytes, readBytes)
          }
        }
      }
    }
  }

  private func check(
    _ size: Int, _ chunkBytes: Int?, _ sending: Sending, _ reading: Reading, _ streamBytes: Int,
    _ readBytes: Int
  ) {
    var world = MachineWorld {
      $0.streamBufferBytes = streamBytes
      $0.readBufferBytes = readBytes
    }
    let (head, body) = Self.message(size, chunkBytes: chunkBytes)
    let next = sending == .pipelined ? "GET /next HTTP/1.1\r\nHost: a\r\n\r\n" : ""
    let all = Array((head + body + next).utf8)
    let alone = sending == .lastByteAlone ? 1 : 0
    for piece in [all.dropLast(alone), all.suffix(alone)] {
      world.send(Array(piece))
      world.clientHasFinished = sending == .halfClosing
      switch reading {
      case .atOnce: world.settleDebts()
      case .whenFull:
        // All is read that may be, then all is taken, and so on.
        var before = -1
        while world.actionCount != before {
          before = world.actionCount
          world.readAll()
          world.takeBody()
        }
        world.settleDebts()
      }
    }
    let text = String(repeating: "a", count: size)
    let said: Comment = "\(size), \(chunkBytes ?? 0), \(sending), \(reading)"
    #expect(
      world.answers == ["200 PUT /stream \(text)"] + (next.isEmpty ? [] : ["200 GET /next "]), said)
    #expect(world.isClosed == (sending == .halfClosing), said)
  }

  @Test func `a stream that is full as the last byte comes is ended, at once or when it has room`()
  {
    let bytes = "0123456789abcdef"
    let cases = [
      ("Content-Length: 16", bytes, ""), ("Content-Length: 32", bytes, bytes),
      ("Transfer-Encoding: chunked", "10\r\n\(bytes)", "\r\n0\r\n\r\n"),
      ("Transfer-Encoding: chunked", "10\r\n\(bytes)\r\n0\r\n", "\r\n"),
    ]
    for (field, first, second) in cases {
      var world = MachineWorld { $0.streamBufferBytes = 16 }
      world.send("PUT /stream HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n\(first)")
      world.read()
      world.send(second)
      world.read()
      #expect(world.machine.waiting == (second.isEmpty ? .answer : .room))
      #expect(world.inbox.count == second.utf8.count)
      world.takeBody()
      world.read()
      world.takeBody()
      #expect(world.streams[0].end != nil && world.streams[0].end?.error == nil)
      #expect(world.machine.waiting == .answer)
      world.answer(0)
      #expect(world.answers == ["200 PUT /stream \(first.contains("\r") ? bytes : first + second)"])
      #expect(world.machine.waiting == .request)
    }
  }
}
