import Foundation
import Glibc
import Synchronization

/// A server on the loopback that says what it is told to, byte by byte, and remembers what it was asked: right,
/// wrong, slow or cut.
package final class LoopbackServer: Sendable {
  /// What was asked.
  package struct Question: Sendable {
    package let target: String
    /// By their names in lower case.
    package let fields: [String: String]
    /// The range that it names; `nil` where there is none, or only its start.
    package let range: ClosedRange<Int>?
    /// How many questions came before, on all connections.
    package let number: Int
    /// As many bytes as `Content-Length` says.
    package let body: [UInt8]
  }

  /// What is written for it.
  package struct Reply: Sendable {
    /// The bytes as they go out, in pieces.
    package var pieces: [[UInt8]]
    /// The pause before each piece but the first.
    package var pauseMilliseconds = 0
    /// The connection takes another question behind it; else it is closed.
    package var keepsConnection = false

    package init(
      _ pieces: [[UInt8]], pauseMilliseconds: Int = 0, keepsConnection: Bool = false
    ) {
      self.pieces = pieces
      self.pauseMilliseconds = pauseMilliseconds
      self.keepsConnection = keepsConnection
    }

    /// A status line's rest, fields and a body, of which no more than `cutAt` bytes are sent. Its length is among
    /// the fields, unless these say another one.
    package init(
      status: String, fields: [(name: String, value: String)] = [], body: [UInt8] = [],
      cutAt: Int = .max, keepsConnection: Bool = false
    ) {
      var text = "HTTP/1.1 \(status)\r\n"
      if !keepsConnection { text += "Connection: close\r\n" }
      for (name, value) in fields { text += "\(name): \(value)\r\n" }
      if !fields.contains(where: { $0.name.lowercased() == "content-length" }) {
        text += "Content-Length: \(body.count)\r\n"
      }
      self.init(
        [Array((text + "\r\n").utf8), Array(body.prefix(cutAt))], keepsConnection: keepsConnection)
    }
  }

  package let port: UInt16
  private let listening: Int32
  private let state = Mutex(State())

  private struct State {
    var questions: [Question] = []
    var connections = 0
    var sentBytes = 0
  }

  /// - Parameter answering: called on a thread for each connection.
  package init(_ answering: @escaping @Sendable (Question) -> Reply) throws {
    signal(SIGPIPE, SIG_IGN)
    let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutableBytes(of: &address) { bytes -> Bool in
      let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
      return bind(listening, pointer, length) == 0 && listen(listening, 64) == 0
        && getsockname(listening, pointer, &length) == 0
    }
    guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
    port = UInt16(bigEndian: address.sin_port)
    self.listening = listening
    Thread.detachNewThread { [weak self] in
      while case let connection = accept(listening, nil, nil), connection >= 0 {
        self?.state.withLock { $0.connections += 1 }
        Thread.detachNewThread { [weak self] in
          while let self, self.serve(connection, answering) {}
          close(connection)
        }
      }
      close(listening)
    }
  }

  // Its thread closes it: the number is another's from then on.
  deinit { shutdown(listening, Int32(SHUT_RDWR)) }

  package var url: URL { URL(string: "http://127.0.0.1:\(port)")! }
  /// What was asked so far.
  package var questions: [Question] { state.withLock { $0.questions } }
  /// How many connections there were.
  package var connections: Int { state.withLock { $0.connections } }
  /// How many bytes went out so far, each reply's first piece, its head, left out.
  package var sentBytes: Int { state.withLock { $0.sentBytes } }

  /// - Returns: whether the connection takes another question.
  private func serve(_ connection: Int32, _ answering: (Question) -> Reply) -> Bool {
    var head: [UInt8] = []
    var byte: UInt8 = 0
    // One by one: what lies behind the head is the next question's.
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      guard read(connection, &byte, 1) == 1 else { return false }
      head.append(byte)
    }
    let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[line[..<colon].lowercased()] =
        line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    let ends = fields["range"]?.dropFirst("bytes=".count).split(separator: "-").compactMap {
      Int($0)
    }
    var body: [UInt8] = []
    while body.count < Int(fields["content-length"] ?? "") ?? 0 {
      guard read(connection, &byte, 1) == 1 else { return false }
      body.append(byte)
    }
    let question = state.withLock { [body] state in
      let question = Question(
        target: String(lines[0].split(separator: " ")[1]), fields: fields,
        range: ends.flatMap { $0.count == 2 ? $0[0]...$0[1] : nil }, number: state.questions.count,
        body: body)
      state.questions.append(question)
      return question
    }
    let reply = answering(question)
    for (index, piece) in reply.pieces.enumerated() {
      if index > 0, reply.pauseMilliseconds > 0 { usleep(UInt32(reply.pauseMilliseconds) * 1_000) }
      let sent = send(piece, to: connection)
      if index > 0 { state.withLock { $0.sentBytes += sent } }
      if sent < piece.count { return false }
    }
    return reply.keepsConnection
  }

  private func send(_ bytes: [UInt8], to connection: Int32) -> Int {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        write(connection, $0.baseAddress! + sent, $0.count - sent)
      }
      if count <= 0 { break }
      sent += count
    }
    return sent
  }
}
