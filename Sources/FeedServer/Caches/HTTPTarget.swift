import Foundation

/// What a short question goes to: an `http` URL in its parts (RFC 9110 section 4.2.1).
public struct HTTPTarget: Equatable, Sendable, CustomStringConvertible {
  /// The name or address to connect to.
  public let host: String
  /// The port to connect to.
  public let port: UInt16
  /// Path and query.
  public let target: String

  /// A target of these parts.
  public init(host: String, port: UInt16, target: String) {
    self.host = host
    self.port = port
    self.target = target
  }

  /// The URL's parts; nil if it is none of `http`, or without a host.
  public init?(url: String) {
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

  /// As it stands in a `Host` field (RFC 9110 section 7.2).
  public var authority: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

  /// The URL.
  public var description: String { "http://\(authority)\(target)" }
}
