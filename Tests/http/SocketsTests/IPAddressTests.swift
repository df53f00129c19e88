import Sockets
import Testing

struct IPAddressTests {
  @Test func `addresses read and write in their usual form`() {
    let cases: [(text: String, written: String?)] = [
      ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("10.100.109.9", "10.100.109.9"),
      ("99.200.1.250", "99.200.1.250"), ("255.255.255.255", "255.255.255.255"), ("::1", "::1"),
      ("[2001:DB8::0:1]", "2001:db8::1"), ("::ffff:10.1.2.3", "10.1.2.3"), ("::", "::"),
      ("256.1.1.1", nil), ("1.2.3", nil), ("", nil), ("unknown", nil), ("1.2.3.4:80", nil),
      ("[::1", nil), (" 1.2.3.4", nil), ("fe80::1%eth0", nil),
    ]
    for (text, written) in cases {
      #expect(IPAddress(text)?.description == written, "\(text)")
    }
  }

  @Test func `one IPv6 network is one client`() {
    #expect(IPAddress("2001:db8:1:2:3::4")?.client == IPAddress("2001:db8:1:2::9")?.client)
    #expect(IPAddress("2001:db8:1:2::1")?.client != IPAddress("2001:db8:1:3::1")?.client)
    #expect(IPAddress("10.0.0.1")?.client != IPAddress("10.0.0.2")?.client)
  }

  @Test func `blocks hold what their first bits say`() throws {
    let cases: [(block: String, inside: [String], outside: [String])] = [
      ("10.0.0.0/8", ["10.0.0.0", "10.255.1.2", "::ffff:10.1.1.1"], ["11.0.0.0", "::a00:1"]),
      ("10.9.9.9/8", ["10.0.0.1"], ["9.255.255.255"]),
      ("192.168.1.7", ["192.168.1.7"], ["192.168.1.6", "192.168.1.8"]),
      ("0.0.0.0/0", ["1.2.3.4", "255.0.0.1"], ["::1", "2001:db8::1"]),
      ("::/0", ["::1", "ffff::", "1.2.3.4"], []),
      ("2001:db8::/32", ["2001:db8:ffff::1"], ["2001:db9::"]),
      ("2001:db8::/65", ["2001:db8::7fff:0:0:1"], ["2001:db8::8000:0:0:1"]),
      ("::1/128", ["::1"], ["::2", "::"]),
    ]
    for (text, inside, outside) in cases {
      let block = try #require(IPAddressBlock(text), "\(text)")
      for address in inside {
        #expect(block.contains(try #require(IPAddress(address))), "\(text) \(address)")
      }
      for address in outside {
        #expect(!block.contains(try #require(IPAddress(address))), "\(text) \(address)")
      }
    }
    for text in ["10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/", "/8", "a/8", "1.2.3.4/8/8"] {
      #expect(IPAddressBlock(text) == nil, "\(text)")
    }
  }
}
