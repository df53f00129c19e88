import HTTP
import Seeding
import Sockets
import Synchronization
import TestSupport
import Testing

@testable import FeedServer

/// How often each client may ask.
@Suite struct RequestRateTests {
  /// A clock that goes when it is told to.
  private final class Clock: Sendable {
    let milliseconds = Mutex<UInt64>(1_000_000)

    var now: @Sendable () -> UInt64 {
      { [self] in milliseconds.withLock { $0 } * 1_000_000 }
    }

    func advance(_ count: UInt64) { milliseconds.withLock { $0 += count } }
  }

  private func admitted(_ rate: RequestRate, _ client: String, times: Int) throws -> Int {
    let address = try #require(IPAddress(client))
    return (0..<times).count { _ in (try? rate.admit(address)) != nil }
  }

  @Test func `a client has its burst, then its rate, and others have theirs`() throws {
    let clock = Clock()
    let rate = RequestRate(perMinute: 600, burst: 5, maximumClients: 100, now: clock.now)
    #expect(try admitted(rate, "10.0.0.1", times: 20) == 5)
    #expect(try admitted(rate, "10.0.0.2", times: 20) == 5)
    clock.advance(100)
    #expect(try admitted(rate, "10.0.0.1", times: 20) == 1)
    clock.advance(250)
    #expect(try admitted(rate, "10.0.0.1", times: 20) == 2)
    clock.advance(50)
    #expect(try admitted(rate, "10.0.0.1", times: 20) == 1)
    clock.advance(60_000)
    #expect(try admitted(rate, "10.0.0.1", times: 20) == 5)
    // One IPv6 network is one client.
    #expect(try admitted(rate, "2001:db8::1", times: 3) == 3)
    #expect(try admitted(rate, "2001:db8::2", times: 20) == 2)
  }

  @Test func `however many clients come, memory is bounded and those who wait are forgotten`()
    throws
  {
    let clock = Clock()
    let rate = RequestRate(perMinute: 60, burst: 1, maximumClients: 10, now: clock.now)
    var admittedCount = 0
    for number in 0..<100 { admittedCount += try admitted(rate, "10.0.0.\(number)", times: 1) }
    #expect(admittedCount == 11)
    clock.advance(2_000)
    #expect(try admitted(rate, "10.0.1.1", times: 1) == 1)
    #expect(try admitted(rate, "10.0.0.1", times: 1) == 1)
  }

  @Test func `over HTTP the answer is 429 with the time to wait, and watchers pass`() throws {
    let service = try RunningServer(PostGenerator(count: 3, seed: 1)) {
      $0.requestsPerSecond = 1
      $0.requestBurst = 2
      $0.trustedProxies = [IPAddressBlock("127.0.0.0/8")!]
    }
    let client = try service.client()
    func ask(_ fields: [String: String] = [:]) throws -> TestAnswer {
      try client.get("/v1/feeds", fields)
    }
    #expect(try ask().status == 200 && ask().status == 200)
    let refused = try ask()
    #expect(refused.status == 429)
    #expect(refused.value("type") == "urn:lookahead:problem:too-many-requests")
    #expect(refused.fields["retry-after"].flatMap { Int($0) }.map { $0 >= 1 } == true)
    #expect(try client.get("/healthz").status == 200 && client.get("/readyz").status == 200)
    #expect(try client.get("/metrics").status == 200)
    // Behind the proxy here there is somebody else.
    #expect(try ask(["X-Forwarded-For": "10.9.9.9"]).status == 200)
  }

  @Test func `only what a trusted proxy says of its client is believed`() throws {
    let clients = ClientAddresses(
      trustedProxies: [IPAddressBlock("10.0.0.0/8")!, IPAddressBlock("::1")!])
    let cases: [(peer: String, said: String?, address: String)] = [
      ("192.0.2.1", "198.51.100.7", "192.0.2.1"),
      ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
      ("10.0.0.1", "1.2.3.4, 198.51.100.7", "198.51.100.7"),
      ("10.0.0.1", "1.2.3.4, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
      ("10.0.0.1", "10.0.0.3,10.0.0.2", "10.0.0.3"),
      ("10.0.0.1", "unknown", "10.0.0.1"),
      ("10.0.0.1", "1.2.3.4, nonsense, 10.0.0.2", "10.0.0.2"),
      ("10.0.0.1", "", "10.0.0.1"), ("10.0.0.1", nil, "10.0.0.1"),
      ("::1", " 2001:db8::5 ", "2001:db8::5"),
    ]
    for (peer, said, address) in cases {
      var fields = Fields()
      if let said { fields.append("X-Forwarded-For", said) }
      let found = clients.address(fields, peer: IPAddress(peer))
      #expect(found?.description == address, "\(peer) \(said ?? "")")
    }
  }
}
