import FeedServer
import Foundation
import Glibc
import TestSupport
import Testing

@testable import lookahead

@Suite struct HealthCommandTests {
  let program = Program()

  @Test func `a server that is ready is healthy, and one that is gone is not`() throws {
    let server = try ServingProgram(program)
    let port = ["LOOKAHEAD_PORT": "\(server.port)"]
    let healthy = try program.run("health", environment: port)
    #expect(healthy.status == 0, "\(healthy.errors)")
    #expect(healthy.output == "http://127.0.0.1:\(server.port)/readyz: ready\n")
    let unknown = try program.run(
      "health", "--url", "http://127.0.0.1:\(server.port)/unknown?a=b")
    #expect(unknown.status == 1)
    #expect(unknown.errors.hasSuffix("/unknown?a=b: status 404\n"))
    #expect(server.terminate() == 0)
    let gone = try program.run("health", environment: port)
    #expect(gone.status == 1)
    #expect(gone.errors.contains("Connection refused"), "\(gone.errors)")
  }

  @Test func `a server that answers nothing is not waited for without end`() throws {
    // The kernel takes connections for a socket that listens, whether or not anybody accepts them.
    let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listening) }
    try #require(listen(listening, 1) == 0)
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutableBytes(of: &address) {
      _ = getsockname(
        listening, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
    }
    let port = UInt16(bigEndian: address.sin_port)
    let outcome = try program.run(
      "health", "--url", "http://127.0.0.1:\(port)/", "--timeout-milliseconds", "100")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("timed out"), "\(outcome.errors)")
  }

  @Test func `a URL is read in its parts, and another is refused`() {
    let cases: [(url: String, shown: String?)] = [
      ("http://127.0.0.1:80", "http://127.0.0.1:80/"),
      ("http://127.0.0.1/readyz", "http://127.0.0.1:80/readyz"),
      ("HTTP://localhost:9/a%20b?c=d", "http://localhost:9/a%20b?c=d"),
      ("http://[::1]:8080/readyz", "http://[::1]:8080/readyz"),
      ("https://127.0.0.1/", nil), ("127.0.0.1:8080", nil), ("http:///readyz", nil),
      ("http://a:99999/", nil), ("http://user@a/", nil), ("", nil),
    ]
    for (url, shown) in cases { #expect(HTTPTarget(url: url)?.description == shown, "\(url)") }
  }

  @Test func `a server on every address is asked on the loopback`() {
    for (host, authority) in [
      ("0.0.0.0", "127.0.0.1:1"), ("::", "[::1]:1"), ("::1", "[::1]:1"), ("10.0.0.1", "10.0.0.1:1"),
    ] {
      #expect(HTTPTarget(listeningOn: host, port: 1).authority == authority)
    }
  }

  @Test func `the version names the release and the commit`() throws {
    let outcome = try program.run("--version")
    #expect(outcome.status == 0)
    #expect(
      outcome.output.wholeMatch(of: /\d+\.\d+\.\d+ \(commit ([0-9a-f]{12}|unknown)\)\n/) != nil,
      "\(outcome.output)")
    let server = try ServingProgram(program)
    let metrics = try TestClient(port: server.port).get("/metrics").text
    #expect(metrics.contains(/\nlookahead_build_info\{.*version="\d+\.\d+\.\d+".*\} 1\n/))
  }
}
