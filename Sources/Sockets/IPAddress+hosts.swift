import Glibc
import System

extension IPAddress {
  /// The addresses of a host, by its name or as they are written (`getaddrinfo(3)`): in the system's order,
  /// each once, and one at least. Asking may take as long as the system's resolver waits.
  ///
  /// - Throws: `SystemError` where it has none.
  public static func addresses(ofHost host: String) throws(SystemError) -> [IPAddress] {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let result = getaddrinfo(host, nil, &hints, &found)
    defer { if let found { freeaddrinfo(found) } }
    var addresses: [IPAddress] = []
    var next = found
    while let entry = next?.pointee {
      if let address = entry.ai_addr.flatMap({
        IPAddress(
          socketAddress: UnsafeRawBufferPointer(start: $0, count: Int(entry.ai_addrlen)))
      }), !addresses.contains(address) {
        addresses.append(address)
      }
      next = entry.ai_next
    }
    guard result == 0, !addresses.isEmpty else {
      let reason = result == 0 ? "no address" : String(cString: gai_strerror(result))
      throw SystemError(
        call: "getaddrinfo", purpose: "resolve the host \(host) (\(reason))",
        code: result == EAI_SYSTEM ? errno : EADDRNOTAVAIL)
    }
    return addresses
  }

  /// Blocks that are no host of the public Internet's: the special-purpose registries of IANA (RFC 6890 and
  /// what was added since), multicast, and the prefixes that carry an IPv4 address within (NAT64, 6to4,
  /// Teredo), through which each of the others could be reached.
  private static let special = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
  ].compactMap { IPAddressBlock($0) }

  /// The only part of IPv6's addresses that is given to hosts of the public Internet (RFC 4291 section 2.4).
  private static let globalUnicast = IPAddressBlock("2000::/3")

  /// Whether it can be a host of the public Internet: not this machine, not its networks.
  public var isPublic: Bool {
    (isIPv4 || Self.globalUnicast?.contains(self) == true)
      && !Self.special.contains { $0.contains(self) }
  }
}
