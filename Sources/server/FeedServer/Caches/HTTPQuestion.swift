import Foundation
import Sockets
import System

/// A request without a body, of whose answer only the status matters: a health check, a purge.
package struct HTTPQuestion: Sendable {
  /// The target of the request.
  package let target: HTTPTarget
  private let method: String
  private let fields: [(name: String, value: String)]

  /// A status line is shorter than this (RFC 9112 section 4).
  private static let statusLineBytes = 256

  /// Creates a question with this method, and with fields in addition to the standard ones: names are tokens,
  /// values visible ASCII and spaces.
  package init(
    _ target: HTTPTarget, method: String = "GET", fields: [(name: String, value: String)] = []
  ) {
    self.method = method
    self.target = target
    self.fields = fields
  }

  /// Returns the answer's status; 0 if the answer is not HTTP. Waits at most this many milliseconds after the
  /// host's address is known.
  ///
  /// - Throws: `SystemError`.
  package func ask(timeoutMilliseconds: Int) throws(SystemError) -> Int {
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

/// The target of a short request: an `http` URL in its parts (RFC 9110 section 4.2.1).
package struct HTTPTarget: Equatable, Sendable, CustomStringConvertible {
  /// The name or address to connect to.
  package let host: String
  /// The port to connect to.
  package let port: UInt16
  /// Path and query.
  package let target: String

  /// Creates a target from its parts.
  package init(host: String, port: UInt16, target: String) {
    self.host = host
    self.port = port
    self.target = target
  }

  /// Creates a target from a URL; `nil` if it is not an `http` URL, or has no host.
  package init?(url: String) {
    guard let parts = URLComponents(string: url), parts.scheme?.lowercased() == "http",
      let host = parts.percentEncodedHost, !host.isEmpty, parts.user == nil
    else { return nil }
    // An IPv6 address is in brackets (RFC 3986 section 3.2.2).
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    guard let port = UInt16(exactly: parts.port ?? 80) else { return nil }
    self.port = port
    let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
    target = path + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
  }

  /// The value of the `Host` field (RFC 9110 section 7.2).
  package var authority: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

  /// The URL.
  package var description: String { "http://\(authority)\(target)" }
}
