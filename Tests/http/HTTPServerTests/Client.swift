import Glibc

/// A blocking client that says exactly what it is told to. Waits end after two minutes.
final class Client {
  struct Answer {
    var status = 0
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []

    subscript(name: String) -> String? {
      fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    var text: String { String(decoding: body, as: UTF8.self) }
    var closes: Bool { self["Connection"]?.lowercased() == "close" }
  }

  private let descriptor: Int32
  private var received: [UInt8] = []
  private(set) var isAtEnd = false
  let isConnected: Bool

  init(_ port: UInt16, receiveBufferBytes: Int32? = nil, sendBufferBytes: Int32? = nil) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    // What is sent in pieces leaves in pieces, and at once.
    var isOn: Int32 = 1
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    var timeout = timeval(tv_sec: 1_000, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(
      descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    if var size = receiveBufferBytes {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    if var size = sendBufferBytes {
      setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    isConnected = withUnsafeBytes(of: address) { [descriptor] in
      connect(
        descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self),
        socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
    }
  }

  deinit { close(descriptor) }

  /// Sends all of it; false if the server is gone.
  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }

  /// Sends as much as is taken without a wait of a fifth of a second; says how much that was.
  func sendWhileTaken(_ bytes: [UInt8]) -> Int {
    var sent = 0
    while sent < bytes.count {
      var watched = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard poll(&watched, 1, 200) > 0 else { break }
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      guard count > 0 else { break }
      sent += count
    }
    return sent
  }

  /// Whether something comes within ten seconds.
  func isReadable() -> Bool {
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, 10_000) == 1
  }

  /// Closes so that the peer sees a reset.
  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    shutdown(descriptor, Int32(SHUT_RD))
    let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    // Closes the connection and leaves a descriptor for `deinit` to close.
    dup2(other, descriptor)
    close(other)
  }

  func get(_ path: String, _ fields: String = "") {
    send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
  }

  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// The next answer, interim ones too; nil at the end of the connection.
  func answer(toHead isHead: Bool = false, pausingMilliseconds pause: UInt32 = 0) -> Answer? {
    var end: Int?
    while true {
      end = received.firstRange(of: Array("\r\n\r\n".utf8))?.lowerBound
      if end != nil || !receive() { break }
    }
    guard let end else { return nil }
    let lines = String(decoding: received[..<end], as: UTF8.self).split(separator: "\r\n")
    received.removeFirst(end + 4)
    var answer = Answer()
    answer.status = Int(lines[0].split(separator: " ")[1]) ?? 0
    for line in lines.dropFirst() {
      let colon = line.firstIndex(of: ":")!
      answer.fields.append((String(line[..<colon]), String(line[colon...].dropFirst(2))))
    }
    let length = isHead ? 0 : answer["Content-Length"].flatMap(Int.init) ?? 0
    while received.count < length, receive() { if pause > 0 { usleep(pause * 1000) } }
    answer.body = Array(received.prefix(length))
    received.removeFirst(min(length, received.count))
    return answer
  }

  /// Whether the server ends the connection, without a byte that was not read yet.
  func isClosed() -> Bool {
    while received.isEmpty, receive() {}
    return received.isEmpty && isAtEnd
  }

  /// Whether nothing has come for so long.
  func isSilent(milliseconds: Int32) -> Bool {
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return received.isEmpty && poll(&watched, 1, milliseconds) == 0
  }

  private func receive() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else {
      isAtEnd = count == 0 || errno == ECONNRESET
      return false
    }
    received += buffer[..<count]
    return true
  }
}
