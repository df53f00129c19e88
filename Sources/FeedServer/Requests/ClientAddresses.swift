import HTTP
import Sockets

/// Finds a client's address behind proxies that are trusted.
struct ClientAddresses: Sendable {
  let trustedProxies: [IPAddressBlock]

  /// The address at the other end of the connection, or, where that is a trusted proxy's, the last one
  /// in `X-Forwarded-For` that is not: whatever stands before it, anybody can have written.
  func address(_ fields: Fields, peer: IPAddress?) -> IPAddress? {
    guard let peer, isTrusted(peer) else { return peer }
    return address(forwardedFor: fields.combined("X-Forwarded-For"), peer: peer)
  }

  /// The same, where the field was taken out before.
  func address(forwardedFor field: String?, peer: IPAddress?) -> IPAddress? {
    guard let peer, isTrusted(peer), let field else { return peer }
    var address = peer
    for member in field.split(separator: ",").reversed() {
      let text = member.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
      guard let next = IPAddress(text) else { return address }
      address = next
      if !isTrusted(address) { break }
    }
    return address
  }

  private func isTrusted(_ address: IPAddress) -> Bool {
    trustedProxies.contains { $0.contains(address) }
  }
}
