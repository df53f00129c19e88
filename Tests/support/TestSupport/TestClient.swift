import Foundation
import Glibc

/// An answer as it came over the wire.
package struct TestAnswer: Sendable {
  package let status: Int
  /// By lower-case name; repeated ones joined by a comma.
  package let fields: [String: String]
  package let body: [UInt8]

  // Safe: Foundation parsed it into values that nobody changes, before the answer is handed to anybody.
  /// The body as a JSON object; empty where it is none. Parsed once: walks look at several members of each page.
  package nonisolated(unsafe) let json: [String: Any]

  package init(status: Int, fields: [String: String], body: [UInt8]) {
    (self.status, self.fields, self.body) = (status, fields, body)
    let isJSON = fields["content-type"]?.contains("json") == true && !body.isEmpty
    json =
      isJSON
      ? (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:] : [:]
  }

  package var text: String { String(decoding: body, as: UTF8.self) }

  /// The member at a path, `paging.next`.
  package func value<Value>(_ path: String, as _: Value.Type = Value.self) -> Value? {
    var current: Any? = json
    for name in path.split(separator: ".") { current = (current as? [String: Any])?[String(name)] }
    return current as? Value
  }

  /// The ids of the page's items.
  package var itemIDs: [String] {
    (json["items"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
  }
}

/// What went wrong on the wire.
package struct TestClientError: Error {
  package let message: String

  package init(message: String) {
    self.message = message
  }
}

/// A blocking HTTP/1.1 client on one connection to loopback that is kept: it knows just what the tests
/// need, and shows what came as it came.
package final class TestClient {
  private let descriptor: Int32
  private var buffer: [UInt8] = []

  package init(port: UInt16, timeoutSeconds: Int = 1_000) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw TestClientError(message: "cannot connect: \(errno)") }
  }

  deinit { close(descriptor) }

  /// Sends a GET and reads the answer.
  package func get(_ target: String, _ fields: [String: String] = [:]) throws -> TestAnswer {
    try request("GET", target, fields)
  }

  /// Sends a request, without a body or with this one, and reads the answer.
  package func request(
    _ method: String, _ target: String, _ fields: [String: String] = [:], body: String? = nil
  ) throws -> TestAnswer {
    let others = fields.filter { $0.key != "Host" }
    var lines = others.map { "\($0.key): \($0.value)\r\n" }.joined()
    if let body { lines += "Content-Length: \(body.utf8.count)\r\n" }
    let head =
      "\(method) \(target) HTTP/1.1\r\nHost: \(fields["Host"] ?? "localhost")\r\n\(lines)\r\n"
    try send(Array((head + (body ?? "")).utf8))
    return try receive(hasBody: method != "HEAD")
  }

  /// Sends bytes as they are.
  package func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw TestClientError(message: "cannot send: \(errno)") }
      sent += count
    }
  }

  /// Reads one answer.
  package func receive(hasBody: Bool = true) throws -> TestAnswer {
    while true {
      if let end = headEnd() { return try answer(headEnd: end, hasBody: hasBody) }
      guard try read() else { throw TestClientError(message: "closed within a head") }
    }
  }

  /// What comes behind the last answer, up to this text and with it: of an answer that has no length.
  package func receive(through end: String) throws -> String {
    let end = Array(end.utf8)
    while true {
      if let range = buffer.firstRange(of: end) {
        defer { buffer.removeSubrange(..<range.upperBound) }
        return String(decoding: buffer[..<range.upperBound], as: UTF8.self)
      }
      guard try read() else {
        throw TestClientError(message: "closed behind \(String(decoding: buffer, as: UTF8.self))")
      }
    }
  }

  /// Whether the server has closed, after what was answered.
  package func isClosed() throws -> Bool { try buffer.isEmpty && !read() }

  private func headEnd() -> Int? {
    guard buffer.count >= 4 else { return nil }
    for index in 0...(buffer.count - 4) where buffer[index] == 13 {
      if buffer[index + 1] == 10, buffer[index + 2] == 13, buffer[index + 3] == 10 { return index }
    }
    return nil
  }

  private func answer(headEnd: Int, hasBody: Bool) throws -> TestAnswer {
    let lines = String(decoding: buffer[..<headEnd], as: UTF8.self).components(separatedBy: "\r\n")
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let name = line[..<colon].lowercased()
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      fields[name] = fields[name].map { "\($0), \(value)" } ?? value
    }
    buffer.removeSubrange(..<(headEnd + 4))
    let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    let mayHaveBody = hasBody && status != 204 && status != 304 && status >= 200
    let length = mayHaveBody ? Int(fields["content-length"] ?? "0") ?? 0 : 0
    while buffer.count < length {
      guard try read() else { throw TestClientError(message: "closed within a body") }
    }
    let body = Array(buffer[..<length])
    buffer.removeSubrange(..<length)
    return TestAnswer(status: status, fields: fields, body: body)
  }

  /// `false` at the end of the stream.
  private func read() throws -> Bool {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &chunk, chunk.count, 0)
    if count < 0, errno == ECONNRESET { return false }
    guard count >= 0 else { throw TestClientError(message: "cannot receive: \(errno)") }
    buffer += chunk[..<count]
    return count > 0
  }
}
