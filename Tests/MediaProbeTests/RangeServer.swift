import Glibc
import System
import TestSupport

/// A server of one file on the loopback, which answers as it is told and remembers what it was asked.
final class RangeServer: Sendable {
  /// What was asked.
  struct Question: Sendable {
    let target: String
    /// By their names in lower case.
    let fields: [String: String]
    /// The range that it names; nil where there is none.
    let range: ClosedRange<Int>?
  }

  /// What is answered: a head without its last line, and a body.
  struct Answer: Sendable {
    var status: String
    var fields: [String] = []
    var body: [UInt8] = []
  }

  private struct State: Sendable {
    var questions: [Question] = []
    var sentBytes = 0
  }

  let port: UInt16
  private let listening: Int32
  private let state = Monitor(State())

  /// - Parameter answer: given the question, and how many came before.
  init(_ answer: @escaping @Sendable (Question, Int) -> Answer) throws {
    let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutableBytes(of: &address) { bytes -> Bool in
      let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
      return bind(listening, pointer, length) == 0 && listen(listening, 16) == 0
        && getsockname(listening, pointer, &length) == 0
    }
    guard bound else { throw SystemError(call: "bind", purpose: "listen for a test") }
    port = UInt16(bigEndian: address.sin_port)
    Signals.ignoreBrokenPipe()
    self.listening = listening
    let state = state
    try startThread {
      while true {
        let connection = accept(listening, nil, nil)
        if connection < 0 { break }
        Self.serve(connection, answer, state)
        close(connection)
      }
      close(listening)
    }
  }

  // Its thread closes it: the number is another's from then on.
  deinit { shutdown(listening, Int32(SHUT_RDWR)) }

  var url: String { "http://127.0.0.1:\(port)/file" }
  /// What was asked so far.
  var questions: [Question] { state.withLock { $0.questions } }
  /// How many bytes of bodies went out so far.
  var sentBytes: Int { state.withLock { $0.sentBytes } }

  private static func serve(
    _ connection: Int32, _ answer: (Question, Int) -> Answer, _ state: Monitor<State>
  ) {
    var head: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while head.firstRange(of: "\r\n\r\n".utf8) == nil {
      let count = read(connection, &buffer, buffer.count)
      if count <= 0 { return }
      head += buffer[..<count]
    }
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      fields[parts[0].lowercased()] = parts.count == 2 ? String(parts[1].dropFirst()) : ""
    }
    let ends = fields["range"]?.dropFirst("bytes=".count).split(separator: "-").compactMap {
      Int($0)
    }
    let question = Question(
      target: String(lines[0].split(separator: " ")[1]), fields: fields,
      range: ends.flatMap { $0.count == 2 ? $0[0]...$0[1] : nil })
    let before = state.withLock { state in
      state.questions.append(question)
      return state.questions.count - 1
    }
    let given = answer(question, before)
    var lengths = given.fields
    if !lengths.contains(where: { $0.lowercased().hasPrefix("content-length") }) {
      lengths.append("Content-Length: \(given.body.count)")
    }
    let text = (["HTTP/1.1 \(given.status)"] + lengths).joined(separator: "\r\n")
    let sent = Descriptor.writeAll(
      Array((text + "\r\nConnection: close\r\n\r\n").utf8), to: connection)
    if sent > 0 {
      let bodyBytes = Descriptor.writeAll(given.body, to: connection)
      state.withLock { $0.sentBytes += bodyBytes }
    }
  }

  /// A file as every good server answers for it.
  static func file(
    _ bytes: [UInt8], fields: [String] = ["ETag: \"v1\""]
  ) -> @Sendable (Question, Int) -> Answer {
    { question, _ in Self.part(of: bytes, question, fields) }
  }

  /// The range of a file that is asked for.
  static func part(of bytes: [UInt8], _ question: Question, _ fields: [String]) -> Answer {
    guard let range = question.range else {
      return Answer(status: "200 OK", fields: fields, body: bytes)
    }
    guard range.lowerBound < bytes.count else {
      return Answer(status: "416 No", fields: ["Content-Range: bytes */\(bytes.count)"])
    }
    let last = min(range.upperBound, bytes.count - 1)
    return Answer(
      status: "206 Partial Content",
      fields: fields + ["Content-Range: bytes \(range.lowerBound)-\(last)/\(bytes.count)"],
      body: Array(bytes[range.lowerBound...last]))
  }
}
