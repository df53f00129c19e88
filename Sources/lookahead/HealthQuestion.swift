import Sockets
import System

/// One GET, of whose answer the status is all that matters.
struct HealthQuestion {
  let target: HealthTarget

  /// A status line is shorter than this (RFC 9112 section 4).
  private static let statusLineBytes = 256

  /// The answer's status; 0 where what came back is not HTTP.
  ///
  /// - Throws: `SystemError`.
  func ask(timeoutMilliseconds: Int) throws(SystemError) -> Int {
    let address = try SocketAddress(host: target.host, port: target.port)
    let socket = try ClientSocket(
      connectingTo: address, timeoutMilliseconds: timeoutMilliseconds)
    defer { socket.close() }
    try socket.send(
      Array(
        """
        GET \(target.target) HTTP/1.1\r
        Host: \(target.authority)\r
        User-Agent: lookahead-health\r
        Connection: close\r
        \r

        """.utf8))
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: Self.statusLineBytes)
    while !line.contains(UInt8(ascii: "\n")), line.count < Self.statusLineBytes {
      let count = try socket.receive(into: &buffer)
      if count == 0 { break }
      line += buffer[..<count]
    }
    return Self.status(of: line)
  }

  /// `HTTP/1.1 200 …`
  private static func status(of line: [UInt8]) -> Int {
    let words = line.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
      .split(separator: UInt8(ascii: " "))
    guard words.count >= 2, words[0].starts(with: Array("HTTP/1.".utf8)) else { return 0 }
    return Int(String(decoding: words[1], as: UTF8.self)) ?? 0
  }
}
