import Sockets
import System
import Testing

/// Which addresses are the public Internet's.
struct PublicAddressTests {
  @Test(arguments: [
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
    "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255",
    "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
    "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::1", "2001:200::1", "::ffff:8.8.8.8",
  ])
  func `a host of the Internet is public`(text: String) throws {
    #expect(try #require(IPAddress(text)).isPublic)
  }

  @Test(arguments: [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255",
    "127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255",
    "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255",
    "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:10.0.0.1",
    "64:ff9b::a00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:1::1",
    "2001:db8::1", "2002:a00:1::", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1", "fd12::1",
    "fe80::1", "febf::1", "fec0::1", "ff02::1", "4000::1",
  ])
  func `this machine, its networks and what leads to them are not`(text: String) throws {
    #expect(try !#require(IPAddress(text)).isPublic)
  }

  @Test func `an address is its own host, and a host has its addresses once each`() throws {
    #expect(try IPAddress.addresses(ofHost: "127.0.0.1") == [#require(IPAddress("127.0.0.1"))])
    #expect(try IPAddress.addresses(ofHost: "::1") == [#require(IPAddress("::1"))])
    let local = try IPAddress.addresses(ofHost: "localhost")
    #expect(Set(local).count == local.count && local.allSatisfy { !$0.isPublic })
    #expect(throws: SystemError.self) { try IPAddress.addresses(ofHost: "no.such.host.invalid") }
  }
}
