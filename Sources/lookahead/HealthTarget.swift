import Foundation

/// What a health check asks: an `http` URL in its parts (RFC 9110 section 4.2.1).
struct HealthTarget: Equatable, CustomStringConvertible {
  let host: String
  let port: UInt16
  /// Path and query.
  let target: String

  /// The URL's parts; nil if it is none of `http`, or without a host.
  init?(url: String) {
    guard let parts = URLComponents(string: url), parts.scheme?.lowercased() == "http",
      let host = parts.percentEncodedHost, !host.isEmpty, parts.user == nil
    else { return nil }
    // An address of IPv6 stands in brackets (RFC 3986 section 3.2.2).
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    guard let port = UInt16(exactly: parts.port ?? 80) else { return nil }
    self.port = port
    let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
    target = path + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
  }

  /// The readiness of a server that listens there: where that is every address, the loopback's.
  init(listeningOn host: String, port: UInt16) {
    switch host {
    case "0.0.0.0", "": self.host = "127.0.0.1"
    case "::": self.host = "::1"
    default: self.host = host
    }
    self.port = port
    target = "/readyz"
  }

  /// As it stands in a `Host` field (RFC 9110 section 7.2).
  var authority: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

  var description: String { "http://\(authority)\(target)" }
}
