import HTTP

/// The URLs by which posts name the files of a media root.
///
/// A URL is a file's only if the server of the files reads it as that file's. A file has several such URLs,
/// which differ in what they percent-encode: RFC 3986 has characters that may be encoded or not, and people
/// write names as they are. Which of them a post has, to the byte, is unknown beforehand: a file has each
/// that is common.
package struct MediaAddresses: Sendable, Hashable {
  /// What the server puts in front of a path.
  package static let servedPrefix = "/media/"

  /// What stands in front of a file's path; each ends with a slash.
  package let prefixes: [String]

  /// Those of the server itself alone.
  package static let served = MediaAddresses(prefixes: [servedPrefix])

  private init(prefixes: [String]) { self.prefixes = prefixes }

  /// The URLs of the server itself, and of other servers of the same files.
  ///
  /// - Throws: `MediaAddressError` for a URL that is invalid, or is not a folder's.
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

  /// The URLs of the file with these path segments, the canonical ones first.
  package func urls(of segments: [String]) -> [String] {
    var paths: [String] = []
    for spelling in Self.spellings {
      let path = segments.map(spelling).joined(separator: "/")
      // By bytes: what is encoded otherwise is another URL.
      if !paths.contains(where: { $0.utf8.elementsEqual(path.utf8) }) { paths.append(path) }
    }
    return prefixes.flatMap { prefix in paths.map { prefix + $0 } }
  }

  /// The canonical URL of the file with these path segments, where the one with `url` is.
  func url(of segments: [String], beside url: String) -> String {
    let prefix = prefixes.first { url.utf8.starts(with: $0.utf8) } ?? Self.servedPrefix
    return prefix + segments.map(Self.spellings[0]).joined(separator: "/")
  }

  /// The path segments of the file that a URL names, whatever query it has; nil if it is not one of these URLs.
  package func segments(of url: String) -> [String]? {
    guard let prefix = prefixes.first(where: { url.utf8.starts(with: $0.utf8) }) else { return nil }
    let path = url.utf8.dropFirst(prefix.utf8.count)
      .prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard PathSegments.isPlainlySpelt(Substring(path)) else { return nil }
    return try? PathSegments.split("/" + String(Substring(path)))
  }

  /// The spellings of a name: with all that a segment may hold (RFC 3986 section 3.3), as `encodeURI` of
  /// JavaScript has it; with `unreserved` characters alone (section 2.3), as `quote` of Python; and with no
  /// more encoded than a client needs to read the name out of it, as people write names.
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

/// Why there are no files at a URL.
package enum MediaAddressError: Error, Hashable, CustomStringConvertible {
  /// It begins neither with http://, https:// and a host nor with a single slash.
  case noURL(String)
  /// It does not end with a slash, or has a query.
  case noFolder(String)

  /// What is wrong, as a clause.
  package var description: String {
    switch self {
    case .noURL(let url): "\(url) is not a URL prefix of files, such as https://cdn.example/media/"
    case .noFolder(let url): "\(url) does not end with the / before a file's path"
    }
  }
}
