import Glibc
import Sockets
import System
import Testing

struct ListeningSocketTests {
  @Test(arguments: ["127.0.0.1", "::1", "localhost"])
  func `several sockets share a port that the system picks`(_ host: String) throws {
    let sockets = try ListeningSocket.open(host: host, port: 0, count: 3, backlog: 8)
    defer { for socket in sockets { socket.close() } }
    #expect(sockets.count == 3 && sockets[0].address.port > 0)
    #expect(Set(sockets.map(\.address.port)).count == 1)
  }

  @Test func `a port that somebody else shares is in use`() throws {
    let others = try ListeningSocket.open(host: "127.0.0.1", port: 0, count: 2, backlog: 8)
    defer { for socket in others { socket.close() } }
    let port = others[0].address.port
    for count in 1...2 {
      let error = #expect(throws: SystemError.self) {
        try ListeningSocket.open(host: "127.0.0.1", port: port, count: count, backlog: 8)
      }
      #expect(
        error?.description
          == "cannot listen on 127.0.0.1:\(port): Address already in use (\(error!.call))")
    }
  }

  @Test func `who shares a port shares it with those alone that do, too`() throws {
    func open(_ port: UInt16, _ count: Int, shares: Bool) throws -> [ListeningSocket] {
      try ListeningSocket.open(
        host: "127.0.0.1", port: port, count: count, backlog: 8, sharesPort: shares)
    }
    let first = try open(0, 1, shares: true)
    let port = first[0].address.port
    let second = try open(port, 3, shares: true)
    defer { for socket in first + second { socket.close() } }
    #expect(second.map(\.address.port) == [port, port, port])
    #expect(throws: SystemError.self) { try open(port, 1, shares: false) }
  }

  @Test func `a host that does not resolve is named`() {
    // Longer than a name can be: refused without asking anybody.
    let host = String(repeating: "a", count: 300)
    let error = #expect(throws: SystemError.self) {
      try ListeningSocket.open(host: host, port: 0, count: 1, backlog: 8)
    }
    #expect(error?.description.contains(host) == true)
  }

  @Test func `nothing to accept and nothing to read are values`() throws {
    let listening = try ListeningSocket.open(host: "127.0.0.1", port: 0, count: 1, backlog: 8)[0]
    defer { listening.close() }
    guard case .wouldBlock = try listening.accept() else {
      Issue.record("a connection from nowhere")
      return
    }
  }
}
