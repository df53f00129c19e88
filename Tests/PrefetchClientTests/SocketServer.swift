import Foundation
import Glibc
import TestSupport

/// A server on the loopback whose answers are those of a `WildServer` or a `FakeFeed`: one request a
/// connection, a thread each.
final class SocketServer: Sendable {
  typealias Answering =
    @Sendable (_ target: String, _ field: (String) -> String?) ->
    WildServer.Answer

  let port: UInt16
  private let listening: Int32

  var url: URL { URL(string: "http://127.0.0.1:\(port)")! }

  init(_ answering: @escaping Answering) throws {
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
    Thread.detachNewThread {
      while case let connection = accept(listening, nil, nil), connection >= 0 {
        Thread.detachNewThread {
          Self.serve(connection, answering)
          close(connection)
        }
      }
      close(listening)
    }
  }

  // Its thread closes it: the number is another's from then on.
  deinit { shutdown(listening, Int32(SHUT_RDWR)) }

  private static func serve(_ connection: Int32, _ answering: Answering) {
    var head: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while head.firstRange(of: "\r\n\r\n".utf8) == nil {
      let count = read(connection, &buffer, buffer.count)
      if count <= 0 { return }
      head += buffer[..<count]
    }
    let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[line[..<colon].lowercased()] =
        line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    let answer = answering(String(lines[0].split(separator: " ")[1])) { fields[$0.lowercased()] }
    var text = "HTTP/1.1 \(answer.status) x\r\nConnection: close\r\n"
    for (name, value) in answer.fields { text += "\(name): \(value)\r\n" }
    if !answer.fields.contains(where: { $0.name == "Content-Length" }) {
      text += "Content-Length: \(answer.body.count)\r\n"
    }
    send(Array((text + "\r\n").utf8) + answer.body.prefix(answer.cutAt ?? .max), to: connection)
  }

  private static func send(_ bytes: [UInt8], to connection: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
  }
}
