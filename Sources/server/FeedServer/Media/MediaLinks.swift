import Feed
import HTTP
import JSON
import MediaIndex
import PostJSON

/// The URLs by which items name the files of `/media/`.
enum MediaLinking: Sendable {
  /// As records do: the server has no such files.
  case asRecorded
  /// As records do, and in addition by content, if it is known.
  case byContent
  /// By signed URLs.
  case signed(MediaSigner)
  /// By signed URLs of the object store. Indirect: handlers copy it for each request.
  indirect case stored(ObjectLinks)

  /// The second since 1970 at which URLs that are made now expire; `nil` if they do not expire.
  var expires: Int? {
    switch self {
    case .signed(let signer): signer.expiry
    case .stored(let links): links.expiry
    case .asRecorded, .byContent: nil
    }
  }

  /// The URLs as of now.
  var links: MediaLinks {
    if case .asRecorded = self { return .asRecorded }
    return MediaLinks(linking: self, expires: expires)
  }
}

/// The URLs by which items name the files of `/media/`, as of one moment.
final class MediaLinks: MediaNaming {
  fileprivate let linking: MediaLinking
  /// The second since 1970 at which the URLs expire, on which the bytes of items depend; `nil` if they do not
  /// expire.
  let expires: Int?

  /// The URLs as in records.
  static let asRecorded = MediaLinks(linking: .asRecorded, expires: nil)

  fileprivate init(linking: MediaLinking, expires: Int?) {
    self.linking = linking
    self.expires = expires
  }

  /// How files are named: if as recorded, no look-up for each file is needed.
  var names: MediaNames {
    if case .asRecorded = linking { return .asRecorded }
    return .by(self)
  }

  func name(of url: Span<UInt8>, version: MediaVersion?) -> MediaName? {
    // In the order of cost: most files of most servers are hosted elsewhere.
    var content: ContentAddress?
    if case .content(let sha256)? = version { content = ContentAddress(sha256: sha256) }
    switch linking {
    case .asRecorded: return nil
    case .byContent:
      guard let content, Self.isOurs(url) else { return nil }
      var name = MediaName()
      var bytes: [UInt8] = []
      bytes.append(
        addingCapacity: url.count + Self.versionQuery.utf8CodeUnitCount + ContentAddress.textBytes
      ) { text in
        text.append(url)
        text.append(Self.versionQuery)
        text.append(content)
      }
      name.immutableURL = bytes
      return name
    case .signed(let signer):
      // A URL that the server does not take for one of its files opens nothing.
      guard let expires, Self.isOurs(url),
        let segments = MediaAddresses.served.segments(of: Self.text(url))
      else { return nil }
      var name = MediaName()
      let query = signer.query(of: segments, content, expires: expires)
      name.url = [UInt8](capacity: url.count + 1 + query.utf8.count) { text in
        text.append(url)
        text.append("?")
        text.append(string: query)
      }
      name.expiresAt = Timestamp(microseconds: Int64(expires) * 1_000_000)
      return name
    case .stored(let links):
      guard let expires, Self.isOurs(url),
        let segments = MediaAddresses.served.segments(of: Self.text(url)),
        let stored = links.url("GET", segments, expires: expires)
      else { return nil }
      var name = MediaName()
      name.url = Array(stored.utf8)
      name.expiresAt = Timestamp(microseconds: Int64(expires) * 1_000_000)
      return name
    }
  }

  private static let versionQuery: StaticString = "?version="

  /// Whether the URL begins like one of our files, and ends with its path.
  private static func isOurs(_ url: Span<UInt8>) -> Bool {
    let prefix = MediaAddresses.servedPrefix.utf8.span
    guard url.count > prefix.count else { return false }
    for index in prefix.indices where url[index] != prefix[index] { return false }
    for index in url.indices
    where url[index] == UInt8(ascii: "?") || url[index] == UInt8(ascii: "#") {
      return false
    }
    return true
  }

  private static func text(_ url: Span<UInt8>) -> String {
    String(decoding: url.indices.map { url[$0] }, as: UTF8.self)
  }
}
