import Foundation
import Sockets

/// An `http` or `https` URL that all parsers read alike: it is rebuilt from its parts before
/// another program gets it.
struct MediaURL: Hashable, CustomStringConvertible {
  /// `http` or `https`
  let scheme: String
  /// A name in lower case or an address; for IPv6, without brackets.
  let host: String
  let port: Int
  /// The path and query, from the slash on.
  let target: String

  /// The maximum length of a URL.
  static let limitBytes = 8_192

  /// Parses a URL.
  ///
  /// - Throws: `RemoteError.malformed`.
  init(_ text: String) throws(RemoteError) {
    try Self.checkCharacters(text)
    guard let colon = text.firstRange(of: "://") else { throw .malformed("it has no host") }
    scheme = text[..<colon.lowerBound].lowercased()
    guard scheme == "http" || scheme == "https" else { throw .otherScheme(scheme) }
    let rest = text[colon.upperBound...]
    let authority = rest.prefix { !"/?#".contains($0) }
    guard !authority.contains("@") else { throw .malformed("it contains a user name") }
    (host, port) = try Self.hostAndPort(authority, scheme)
    let target = rest[authority.endIndex...].prefix { $0 != "#" }
    self.target = target.hasPrefix("/") ? String(target) : "/" + target
  }

  private static func checkCharacters(_ text: String) throws(RemoteError) {
    guard text.utf8.count <= limitBytes else {
      throw .malformed("it has more than \(limitBytes) bytes")
    }
    // Characters that RFC 3986 does not allow unencoded: a browser would read `\` as `/`.
    let forbidden = Set("\\\"<>^`{|} ".utf8)
    guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !forbidden.contains($0) }) else {
      throw .malformed("it contains characters that must be percent-encoded")
    }
  }

  private static func hostAndPort(
    _ authority: Substring, _ scheme: String
  ) throws(RemoteError) -> (String, Int) {
    var host = authority
    var portText = Substring()
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      host = authority[authority.index(after: authority.startIndex)..<end]
      let behind = authority[authority.index(after: end)...]
      guard behind.isEmpty || behind.hasPrefix(":"), IPAddress(host)?.isIPv4 == false else {
        throw .malformed("its host is not an IPv6 address")
      }
      portText = behind.dropFirst()
    } else {
      if let colon = authority.firstIndex(of: ":") {
        host = authority[..<colon]
        portText = authority[authority.index(after: colon)...]
      }
      guard isHost(host.lowercased()) else { throw .malformed("its host is not a name or address") }
    }
    if portText.isEmpty { return (host.lowercased(), scheme == "https" ? 443 : 80) }
    guard portText.utf8.count <= 5, portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = Int(portText), (1...65_535).contains(port)
    else { throw .malformed("its port is not in 1…65535") }
    return (host.lowercased(), port)
  }

  /// Whether it is a name of letters, digits, hyphens and dots, or an IPv4 address in dotted decimal form. Other
  /// forms that end in a number (`127.1`, `0x7f.1`) are refused, because some resolvers read them as addresses.
  static func isHost(_ text: String) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    guard text.utf8.count <= 253, let last = labels.last else { return false }
    let isName = labels.allSatisfy { label in
      (1...63).contains(label.utf8.count)
        && label.utf8.allSatisfy {
          (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) || $0 == 0x2d || $0 == 0x5f
        }
    }
    guard isName else { return IPAddress(text)?.isIPv4 == false }
    let isNumber = last.utf8.first.map { (0x30...0x39).contains($0) } ?? false
    return !isNumber || (labels.count == 4 && IPAddress(text)?.isIPv4 == true)
  }

  /// Returns the target of a redirection.
  func resolving(_ reference: String) throws(RemoteError) -> MediaURL {
    try Self.checkCharacters(reference)
    guard let base = URL(string: description),
      let url = URL(string: reference, relativeTo: base)
    else { throw .malformed("it is redirected to an invalid URL") }
    return try MediaURL(url.absoluteURL.absoluteString)
  }

  /// The host in an authority.
  private var hostText: String { host.contains(":") ? "[\(host)]" : host }

  var description: String { "\(scheme)://\(hostText):\(port)\(target)" }
}

/// A setting for allowed hosts: a single one, all below a name (`*.example.org`), or all (`*`).
package struct HostPattern: Sendable, Hashable {
  /// The pattern in lower case.
  private let text: String

  /// Creates a pattern; nil if the text is invalid.
  package init?(_ text: String) {
    let bare = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
    guard text == "*" || MediaURL.isHost(bare.lowercased()) else { return nil }
    self.text = text.lowercased()
  }

  /// Whether the pattern matches a host.
  ///
  /// - Parameter host: in lower case.
  func allows(_ host: String) -> Bool {
    if text == "*" { return true }
    return text.hasPrefix("*.") ? host.hasSuffix(text.dropFirst()) : host == text
  }
}
