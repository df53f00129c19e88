import Glibc
import System

/// An IPv4 or IPv6 address without a port. `::ffff:a.b.c.d` (RFC 4291 section 2.5.5.2), as which a dual-stack
/// socket sees an IPv4 address, is that IPv4 address.
public struct IPAddress: Sendable, Hashable {
  /// The first and last eight bytes of the IPv6 form, in host order.
  let high: UInt64
  let low: UInt64

  private static let mappedPrefix: UInt64 = 0xffff << 32

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// An IPv4 address.
  init(ipv4: UInt32) { self.init(high: 0, low: Self.mappedPrefix | UInt64(ipv4)) }

  /// Parses an address: `127.0.0.1`, `2001:db8::1` (`inet_pton(3)`), with or without brackets; nil if it is
  /// malformed.
  public init?(_ text: some StringProtocol) {
    var bare = String(text)
    if bare.hasPrefix("["), bare.hasSuffix("]") { bare = String(bare.dropFirst().dropLast()) }
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, bare, &bytes) == 1 {
      self.init(ipv4: bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) })
    } else if inet_pton(AF_INET6, bare, &bytes) == 1 {
      self.init(bytes[...])
    } else {
      return nil
    }
  }

  /// The address within a `sockaddr_in` or `sockaddr_in6`.
  init?(socketAddress bytes: UnsafeRawBufferPointer) {
    switch Int32(bytes.load(as: sa_family_t.self)) {
    case AF_INET: self.init(ipv4: bytes[4..<8].reduce(0) { $0 << 8 | UInt32($1) })
    case AF_INET6: self.init(Array(bytes[8..<24])[...])
    default: return nil
    }
  }

  private init(_ bytes: ArraySlice<UInt8>) {
    self.init(
      high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
      low: bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// Whether it is an IPv4 address.
  public var isIPv4: Bool { high == 0 && low >> 32 == 0xffff }

  /// The address that identifies a client: an IPv4 address itself, or the network of 64 bits of an IPv6
  /// address, since a single host commonly has all of that (RFC 4291 section 2.5.4).
  public var client: IPAddress { isIPv4 ? self : IPAddress(high: high, low: 0) }
}

extension IPAddress: CustomStringConvertible {
  /// The usual text (`inet_ntop(3)`; RFC 5952 for IPv6).
  public var description: String { isIPv4 ? dottedDecimal : colonHexadecimal }

  /// Formatted here, since each line of the access log has an address: `inet_ntop` uses `snprintf`, which
  /// takes some 1500 instructions.
  private var dottedDecimal: String {
    // Four numbers below 256 and three dots.
    String(unsafeUninitializedCapacity: 15) { text in
      var count = 0
      func append(_ byte: UInt8) {
        text[count] = byte
        count += 1
      }
      for shift: UInt64 in [24, 16, 8, 0] {
        let number = UInt8(truncatingIfNeeded: low >> shift)
        if number >= 100 { append(UInt8(ascii: "0") + number / 100) }
        if number >= 10 { append(UInt8(ascii: "0") + number / 10 % 10) }
        append(UInt8(ascii: "0") + number % 10)
        if shift > 0 { append(UInt8(ascii: ".")) }
      }
      return count
    }
  }

  private var colonHexadecimal: String {
    var bytes = [high, low].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
    }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count)) != nil else { return "?" }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// A block of addresses: `10.0.0.0/8`, `2001:db8::/32`, or one address (RFC 4632 section 3.1).
public struct IPAddressBlock: Sendable, Hashable {
  private let first: IPAddress
  private let highMask: UInt64
  private let lowMask: UInt64

  /// Parses a block; nil if it is malformed.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = IPAddress(parts[0]) else { return nil }
    let width = address.isIPv4 ? 32 : 128
    var length = width
    if parts.count == 2 {
      guard let number = Int(parts[1]), (0...width).contains(number) else { return nil }
      length = number
    }
    let bits = length + 128 - width
    highMask = bits >= 64 ? .max : ~(UInt64.max >> UInt64(bits))
    lowMask = bits <= 64 ? 0 : ~(bits == 128 ? 0 : UInt64.max >> UInt64(bits - 64))
    first = IPAddress(high: address.high & highMask, low: address.low & lowMask)
  }

  /// Whether the block contains the address.
  public func contains(_ address: IPAddress) -> Bool {
    address.high & highMask == first.high && address.low & lowMask == first.low
  }
}

extension IPAddress {
  /// The addresses of a host, by its name or as text (`getaddrinfo(3)`): in the system's order, each once, at
  /// least one. It waits as long as the system's resolver does.
  ///
  /// - Throws: `SystemError` if the host has none.
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

  /// Blocks without hosts of the public Internet: the special-purpose registries of IANA (RFC 6890 and later
  /// additions), multicast, and the prefixes that contain an IPv4 address (NAT64, 6to4, Teredo), through
  /// which each of the others could be reached.
  private static let special = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
  ].compactMap { IPAddressBlock($0) }

  /// The only part of the IPv6 addresses that is assigned to hosts of the public Internet (RFC 4291 section
  /// 2.4).
  private static let globalUnicast = IPAddressBlock("2000::/3")

  /// Whether it can be a host of the public Internet, and is neither this machine nor in its networks.
  public var isPublic: Bool {
    (isIPv4 || Self.globalUnicast?.contains(self) == true)
      && !Self.special.contains { $0.contains(self) }
  }
}
