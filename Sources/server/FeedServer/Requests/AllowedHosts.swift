import HTTP
import Sockets

/// A host with an optional port, in one canonical spelling: in lower case, without a trailing dot, an address
/// in its usual form.
package struct HostAndPort: Sendable, Hashable {
  /// The host; in brackets if it is an IPv6 address.
  package let host: String
  /// The port; `nil` if there is none.
  package let port: UInt16?
  /// The host's address; `nil` if the host is a name.
  let address: IPAddress?

  /// Parses a host (`feeds.example`, `feeds.example:8080`, `[::1]:80`); `nil` if it is invalid.
  package init?(_ text: String) {
    guard Authority.isWellFormed(text) else { return nil }
    // Colons within brackets belong to the address.
    let end = text.lastIndex(of: ":").flatMap { text[$0...].contains("]") ? nil : $0 }
    port = end.flatMap { UInt16(text[$0...].dropFirst()) }
    var name = text[..<(end ?? text.endIndex)].lowercased()
    if name.hasSuffix(".") { name.removeLast() }
    address = IPAddress(name)
    host = address.map { $0.isIPv4 ? $0.description : "[\($0)]" } ?? name
  }

  /// The host and port as in a URL.
  var text: String { port.map { "\(host):\($0)" } ?? host }

  var isLoopback: Bool {
    if let address { return Self.loopbacks.contains { $0.contains(address) } }
    return host == "localhost" || host.hasSuffix(".localhost")
  }

  private static let loopbacks = ["127.0.0.0/8", "::1"].compactMap { IPAddressBlock($0) }
}

/// The hosts for which the server answers documents with absolute URLs.
///
/// Without a public URL, these URLs begin with the host that the request names, and a cache whose key leaves
/// the host out serves them to all clients: so clients must not be able to make up a host. The server does
/// not read what proxies say of the host in other fields (`Forwarded`, `X-Forwarded-Host`).
struct AllowedHosts: Sendable {
  /// The URL at which clients reach the server, without a slash at the end; `nil` to use the host of each
  /// request.
  let publicURL: String?
  /// The hosts that the operator names; one without a port allows any port. If there are none, those of this
  /// machine are allowed: the address that the client reached, the name on which the server listens, and
  /// loopback names.
  let named: [HostAndPort]
  private let listening: HostAndPort?
  private let ofPublicURL: HostAndPort?

  /// - Parameter listening: the name or address on which the server listens.
  init(publicURL: String?, named: [HostAndPort], listening: String) {
    self.publicURL = publicURL
    self.named = named
    self.listening = HostAndPort(listening.contains(":") ? "[\(listening)]" : listening)
    ofPublicURL = publicURL.flatMap { url in
      let authority = url.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" }
      return HostAndPort(String(authority))
    }
  }

  /// The prefix of URLs, with a slash at the end, in an answer to a request for this host, which came to this
  /// address of the server.
  ///
  /// - Throws: `Problem` 421, RFC 9110 section 15.5.20.
  func home(forHost text: String, at local: IPAddress?) throws(Problem) -> String {
    // A request of HTTP/1.0 may name no host.
    guard !text.isEmpty else {
      guard let publicURL else {
        throw Problem(
          .misdirectedRequest, .misdirectedRequest,
          "The request names no host, but the URLs of this document begin with the host.")
      }
      return publicURL + "/"
    }
    guard let host = HostAndPort(text), allows(host, at: local) else {
      throw Problem(
        .misdirectedRequest, .misdirectedRequest,
        "The URLs of this document begin with the host, and \(text) is not allowed: "
          + "use --allowed-host \(text) to allow it, or --public-url to set one for all requests.")
    }
    return (publicURL ?? "http://\(host.text)") + "/"
  }

  private func allows(_ host: HostAndPort, at local: IPAddress?) -> Bool {
    if let ofPublicURL, host.host == ofPublicURL.host { return true }
    guard named.isEmpty else {
      return named.contains {
        $0.host == host.host && ($0.port == nil || $0.port == host.port ?? 80)
      }
    }
    return host.isLoopback || host.host == listening?.host
      || host.address.map { $0 == local } ?? false
  }
}
