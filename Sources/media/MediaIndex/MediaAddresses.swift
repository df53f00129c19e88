import HTTP

/// The URLs by which posts name the files of a media root.
///
/// A URL belongs to a file only if the files' server maps it to that file. A file has several URLs, which
/// differ in their percent-encoding: RFC 3986 leaves the encoding of some characters open, and people write
/// names unencoded. The exact URL in a post is not known beforehand, so a file has all common ones.
package struct MediaAddresses: Sendable, Hashable {
  /// The server's own prefix of paths.
  package static let servedPrefix = "/media/"

  /// The prefixes of a file's path; each ends with a slash.
  package let prefixes: [String]

  /// The URLs of the server itself only.
  package static let served = MediaAddresses(prefixes: [servedPrefix])

  private init(prefixes: [String]) { self.prefixes = prefixes }

  /// The URLs of the server itself, and of other servers of the same files.
  ///
  /// - Throws: `MediaAddressError` for a URL that is invalid, or not that of a folder.
  package init(baseURLs: [String]) throws(MediaAddressError) {
    for url in baseURLs {
      let hasHost = ["http://", "https://"].contains { prefix in
        url.hasPrefix(prefix) && !url.dropFirst(prefix.count).hasPrefix("/")
          && url.utf8.count > prefix.utf8.count
      }
      guard hasHost || (url.hasPrefix("/") && !url.hasPrefix("//")) else {
        throw .noURL(url)
      }
      guard url.hasSuffix("/"), !url.utf8.contains(where: { $0 == 0x3f || $0 == 0x23 }) else {
        throw .noFolder(url)
      }
    }
    prefixes = [Self.servedPrefix] + baseURLs.filter { $0 != Self.servedPrefix }
  }

  /// Returns the URLs of the file with these path segments, the canonical ones first.
  package func urls(of segments: [String]) -> [String] {
    var paths: [String] = []
    for spelling in Self.spellings {
      let path = segments.map(spelling).joined(separator: "/")
      // Compare bytes: a different encoding is a different URL.
      if !paths.contains(where: { $0.utf8.elementsEqual(path.utf8) }) { paths.append(path) }
    }
    return prefixes.flatMap { prefix in paths.map { prefix + $0 } }
  }

  /// Returns the canonical URL of the file with these path segments, with the prefix of `url`.
  func url(of segments: [String], beside url: String) -> String {
    let prefix = prefixes.first { url.utf8.starts(with: $0.utf8) } ?? Self.servedPrefix
    return prefix + segments.map(Self.spellings[0]).joined(separator: "/")
  }

  /// Returns the path segments of the file that a URL names, ignoring its query; nil if it
  /// is not one of these URLs.
  package func segments(of url: String) -> [String]? {
    guard let prefix = prefixes.first(where: { url.utf8.starts(with: $0.utf8) }) else { return nil }
    let path = url.utf8.dropFirst(prefix.utf8.count)
      .prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard PathSegments.isPlainlySpelt(Substring(path)) else { return nil }
    return try? PathSegments.split("/" + String(Substring(path)))
  }

  /// The spellings of a name: with all characters that a segment may contain (RFC 3986 section 3.3), as by
  /// JavaScript's `encodeURI`; with `unreserved` characters only (section 2.3), as by Python's `quote`; and
  /// with only those characters encoded that a client would misread, as people write names.
  private static let spellings: [@Sendable (String) -> String] = [
    { PercentEncoding.encode($0, for: .pathSegment) },
    { PercentEncoding.encode($0, for: .queryValue) },
    { name in
      let bytes = name.utf8.flatMap { byte -> [UInt8] in
        switch byte {
        case UInt8(ascii: "%"): Array("%25".utf8)
        case UInt8(ascii: "?"): Array("%3F".utf8)
        case UInt8(ascii: "#"): Array("%23".utf8)
        default: [byte]
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    },
  ]
}

/// The reason why a URL is not a prefix of files.
package enum MediaAddressError: Error, Hashable, CustomStringConvertible {
  /// The URL begins neither with http:// or https:// and a host, nor with a single slash.
  case noURL(String)
  /// The URL does not end with a slash, or has a query.
  case noFolder(String)

  /// The error as a clause.
  package var description: String {
    switch self {
    case .noURL(let url): "\(url) is not a URL prefix of files, such as https://cdn.example/media/"
    case .noFolder(let url): "\(url) does not end with the / before a file's path"
    }
  }
}
