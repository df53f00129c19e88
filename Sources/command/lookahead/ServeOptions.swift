import ArgumentParser
import FeedServer
import Foundation

/// The address to listen on, and the number of threads.
struct ListeningOptions: ParsableArguments {
  static let defaultHost = "127.0.0.1"

  @Option("host", default: defaultHost, "Address to listen on.") var host: String

  @Flag(
    "share-port",
    "Let another server of this user listen on the same port: the one that replaces this one.")
  var sharePort: Bool

  @Option(
    help: """
      URL at which clients reach the server; URLs in JSON Feed and RSS begin with it. Default: \
      http and the host that the request names.
      """)
  var publicUrl: String?

  @Option(
    help: ArgumentHelp(
      """
      Host, or HOST:PORT, that requests for JSON Feed and RSS may name besides that of \
      --public-url; may be repeated. Default: the address that the client connected to, and \
      loopback names.
      """, valueName: "host"))
  var allowedHost: [String] = []

  mutating func validate() throws {
    publicUrl = publicUrl ?? Environment.text("public-url")
    if allowedHost.isEmpty {
      allowedHost = Environment.text("allowed-host", default: "").split(separator: ",")
        .map { $0.filter { $0 != " " } }
    }
    _ = try publicURL()
    _ = try allowedHosts()
  }

  /// The hosts that requests may name, in addition to that of the public URL.
  ///
  /// - Throws: `ValidationError`.
  func allowedHosts() throws -> [HostAndPort] {
    try allowedHost.map { text in
      guard let host = HostAndPort(text) else {
        throw ValidationError(
          "--allowed-host: \"\(text)\" is not a host such as feeds.example or feeds.example:8080")
      }
      return host
    }
  }

  /// The public URL, without a slash at the end.
  ///
  /// - Throws: `ValidationError`.
  func publicURL() throws -> String? {
    guard let publicUrl, !publicUrl.isEmpty else { return nil }
    let parts = URLComponents(string: publicUrl)
    guard let parts, ["http", "https"].contains(parts.scheme), parts.host?.isEmpty == false,
      parts.percentEncodedHost.flatMap({ HostAndPort($0) }) != nil,
      parts.user == nil, parts.query == nil, parts.fragment == nil,
      publicUrl.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !"<>\"\\^`{|}".utf8.contains($0) })
    else {
      throw ValidationError(
        "--public-url: \"\(publicUrl)\" is not a URL such as https://feeds.example")
    }
    return String(publicUrl.reversed().drop { $0 == "/" }.reversed())
  }

  /// The host as in a URL: an IPv6 address is in brackets, RFC 3986 section 3.2.2.
  var urlHost: String { host.contains(":") ? "[\(host)]" : host }
}

/// The caching and refreshing of pages.
struct PageOptions: ParsableArguments {
  @Flag("page", default: true, "Serve a web page to browsers that request /.") var page: Bool

  @Option(
    help: """
      File of the lab's latest report, which the web page shows; it may be replaced at any time.
      """)
  var labReport: String?

  mutating func validate() throws { labReport = labReport ?? Environment.text("lab-report") }
}

/// The location of the media files, their cache lifetimes, and the clients that may read them.
struct MediaOptions: ParsableArguments {
  @Option(
    help:
      "Folder of the files under /media/, or s3://bucket/prefix; without it, none are served.")
  var mediaRoot: String?

  @Option(
    "media-delivery", default: MediaDelivery.through.rawValue,
    """
    How clients get the files of a bucket: through (from this server), redirect (/media/ redirects \
    to signed URLs of the store), or direct (items contain these URLs as well).
    """)
  var mediaDelivery: String

  @Option(
    help: """
      Folder for uploads to a bucket until they are complete; default: next to the database, if \
      that is a file.
      """)
  var mediaSpoolFolder: String?

  @Option(
    help:
      "File of keys, one per line, that sign URLs of media files; without it, none is signed.")
  var mediaSigningKeyFile: String?

  mutating func validate() throws {
    mediaRoot = mediaRoot ?? Environment.text("media-root")
    mediaSpoolFolder = mediaSpoolFolder ?? Environment.text("media-spool-folder")
    mediaSigningKeyFile = mediaSigningKeyFile ?? Environment.text("media-signing-key-file")
    _ = try delivery()
  }

  /// The way in which clients get the files of a bucket.
  ///
  /// - Throws: `ValidationError`.
  func delivery() throws -> MediaDelivery {
    guard let delivery = MediaDelivery(rawValue: mediaDelivery) else {
      let known = MediaDelivery.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("--media-delivery: \"\(mediaDelivery)\" is not one of \(known)")
    }
    return delivery
  }

  /// The keys; none without a file.
  ///
  /// - Throws: `ValidationError`.
  func signingKeys() throws -> [[UInt8]] {
    try mediaSigningKeyFile.map {
      try KeyFile.keys(in: $0, option: "--media-signing-key-file")
    } ?? []
  }
}
