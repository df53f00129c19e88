import Dispatch
import Glibc
import Testing

@testable import Observability

struct LogSinkTests {
  /// The line that tells of dropped ones.
  static var note: Regex<(Substring, Substring)> {
    /{"time":"[^"]*","level":"warning",[^\n]*"dropped":([0-9]+)}\n/
  }

  static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func `lines come out in the order in which they went in, none lost`() throws {
    let file = LogFile(.text)
    for number in 0..<5000 { file.sink.append(Self.bytes("line \(number)")) }
    #expect(try file.text() == (0..<5000).map { "line \($0)\n" }.joined())
    #expect(file.sink.droppedLines == 0)
  }

  @Test func `lines of many threads stay whole`() throws {
    let file = LogFile(.text)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<500 { file.sink.append(Self.bytes("\(thread):\(number)")) }
    }
    let lines = try file.text().split(separator: "\n")
    let expected = (0..<8).flatMap { thread in (0..<500).map { "\(thread):\($0)" } }
    #expect(lines.count == expected.count && Set(lines.map(String.init)) == Set(expected))
  }

  @Test func `a line longer than the buffer is dropped, and the log says so`() throws {
    let file = LogFile(.text, maximumBytes: 100)
    file.sink.append(Self.bytes(String(repeating: "x", count: 100)))
    #expect(file.sink.droppedLines == 1)
    file.sink.append(Self.bytes(String(repeating: "y", count: 99)))
    let note = "2026-11-21T05:19:46.123Z warning log lines were dropped dropped=1\n"
    #expect(try file.text() == String(repeating: "y", count: 99) + "\n" + note)
    file.sink.append(Self.bytes("z"))
    #expect(try file.text().hasSuffix(note + "z\n"))
  }

  @Test(arguments: [true, false])
  func `a pipe that nobody reads costs lines and nobody's time, and is told of when it flows again`(
    _ isBlocking: Bool
  ) throws {
    let pipe = TestPipe(isBlocking: false)
    defer { pipe.close() }
    let filled = pipe.fill()
    if isBlocking { #expect(fcntl(pipe.writer, F_SETFL, 0) == 0) }
    let sink = LogSink(
      descriptor: pipe.writer, format: .json, maximumBytes: 1000, now: { LogFile.time })
    // Would never end if one of them waited for the pipe.
    for number in 0..<200 { sink.append(Self.bytes("line \(100 + number)")) }
    #expect(!sink.flush(atMostMilliseconds: 1))
    // 1000 bytes hold 111 lines of 9.
    #expect(sink.droppedLines == 89)
    #expect(pipe.read(filled).count == filled)
    #expect(sink.flush(atMostMilliseconds: 600_000))
    sink.append(Self.bytes("after"))
    #expect(sink.flush(atMostMilliseconds: 600_000))
    // The writer may have taken lines while others were still being dropped: then it tells twice.
    let text = String(decoding: pipe.readAvailable(), as: UTF8.self)
    let told = text.matches(of: Self.note).map { Int($0.1) ?? 0 }
    #expect(told.reduce(0, +) == 89 && told.count <= 2)
    let lines = (0..<111).map { "line \(100 + $0)\n" } + ["after\n"]
    #expect(text.replacing(Self.note, with: "") == lines.joined())
  }

  @Test func `a pipe whose reader is gone ends nothing and loses lines`() {
    let pipe = TestPipe()
    defer { pipe.close() }
    let sink = LogSink(descriptor: pipe.writer, format: .text, now: { LogFile.time })
    pipe.closeReader()
    for round in 1...3 {
      for _ in 0..<10 { sink.append(Self.bytes("lost")) }
      #expect(sink.flush(atMostMilliseconds: 600_000))
      #expect(sink.droppedLines == 10 * round)
    }
  }

  @Test func `a full disk loses lines and is told of by nobody until there is room`() {
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let sink = LogSink(descriptor: full, format: .text, now: { LogFile.time })
    sink.append(Self.bytes("lost"))
    sink.append(Self.bytes("lost"))
    #expect(sink.flush(atMostMilliseconds: 600_000))
    #expect(sink.droppedLines == 2)
  }

  @Test func `a line whose end was lost is ended before the next`() {
    let (broken, sound) = (TestPipe(isBlocking: false), TestPipe())
    defer {
      broken.close()
      sound.close()
    }
    let sink = LogSink(descriptor: broken.writer, format: .text, now: { LogFile.time })
    sink.append([UInt8](repeating: UInt8(ascii: "x"), count: 100_000))
    broken.waitUntilFull()
    broken.closeReader()
    #expect(sink.flush(atMostMilliseconds: 600_000))
    #expect(sink.droppedLines == 1)
    #expect(dup2(sound.writer, broken.writer) == broken.writer)
    sink.append(Self.bytes("next"))
    #expect(sink.flush(atMostMilliseconds: 600_000))
    let expected =
      "\nnext\n2026-11-21T05:19:46.123Z warning log lines were dropped dropped=1\n"
    #expect(sound.read(expected.utf8.count) == Self.bytes(expected))
  }

  @Test func `a flush of nothing is done at once`() {
    let pipe = TestPipe()
    defer { pipe.close() }
    let sink = LogSink(descriptor: pipe.writer, format: .text)
    #expect(sink.flush(atMostMilliseconds: 0))
  }

  @Test func `what waits is written when the sink goes`() {
    let pipe = TestPipe()
    defer { pipe.close() }
    LogSink(descriptor: pipe.writer, format: .text).append(Self.bytes("last"))
    #expect(pipe.read(5) == Self.bytes("last\n"))
  }

  @Test func `what is no terminal gets JSON`() {
    let pipe = TestPipe()
    defer { pipe.close() }
    #expect(LogFormat.suitable(forDescriptor: pipe.writer) == .json)
    #expect(LogSink(descriptor: pipe.writer).format == .json)
  }
}
