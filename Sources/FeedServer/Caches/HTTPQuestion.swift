import Sockets
import System

/// One request without a body, of whose answer the status is all that matters: a health check, a purge.
public struct HTTPQuestion: Sendable {
  /// What it goes to.
  public let target: HTTPTarget
  private let method: String
  private let fields: [(name: String, value: String)]

  /// A status line is shorter than this (RFC 9112 section 4).
  private static let statusLineBytes = 256

  /// A question of this method, with fields beside those that every one has: names are tokens, values visible ASCII
  /// and spaces.
  public init(
    _ target: HTTPTarget, method: String = "GET", fields: [(name: String, value: String)] = []
  ) {
    self.method = method
    self.target = target
    self.fields = fields
  }

  /// The answer's status; 0 where what came back is not HTTP. It waits, but no longer than so many milliseconds from
  /// when the host's address is known.
  ///
  /// - Throws: `SystemError`.
  public func ask(timeoutMilliseconds: Int) throws(SystemError) -> Int {
    let address = try SocketAddress(host: target.host, port: target.port)
    let socket = try ClientSocket(
      connectingTo: address, timeoutMilliseconds: timeoutMilliseconds)
    defer { socket.close() }
    var head = "\(method) \(target.target) HTTP/1.1\r\nHost: \(target.authority)\r\n"
    head += "User-Agent: lookahead\r\nConnection: close\r\n"
    for (name, value) in fields { head += "\(name): \(value)\r\n" }
    try socket.send(Array((head + "\r\n").utf8))
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
