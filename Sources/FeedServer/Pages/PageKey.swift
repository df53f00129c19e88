import Feed
import HTTP
import Prefetch

/// What a page's representation rests on beside the store: two requests with equal keys get equal
/// bytes.
struct PageKey: Hashable, Sendable {
  /// What it is written as.
  enum Form: Hashable, Sendable {
    /// Links lead to the route that was asked.
    case compact, full
    /// Of a JSON Feed or RSS, its own URL: from host to cursors, what a request says that decides about it.
    case document(url: String)
  }

  let form: Form
  let query: PageQuery
  @ByBytes var network: String
  /// Whether links name the network.
  let isNetworkNamed: Bool
  /// What the query says of saving data, which links repeat.
  let savesData: Bool?
  let bounds: PlanBounds
  let coding: ContentCoding
  /// The second at which the URLs of its files expire.
  let expires: Int?
}

/// The part of a request that decides about its page, as it came: its target, and the fields that a page
/// can depend on; and when the URLs of files expire that are handed out just now. Requests with the same text have the same key; many texts may have one.
struct RequestText: Hashable, Sendable {
  let bytes: [UInt8]

  /// What a page depends on at the most; each page says in `Vary` on which of them it does.
  static let fields: [StaticString] = ["Accept-Encoding", "ECT", "Downlink", "RTT", "Save-Data"]

  /// - Parameter home: what URLs begin with, where the answer has absolute ones.
  init(_ request: borrowing Request, expires: Int? = nil, home: String? = nil) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(request.target.count + 64)
    bytes.append(contentsOf: request.target)
    for field in Self.fields {
      // No target and no value has a line feed.
      bytes.append(UInt8(ascii: "\n"))
      request.fields.appendValues(of: field, to: &bytes)
    }
    if let expires { bytes.append(contentsOf: "\n\(expires)".utf8) }
    if let home { bytes.append(contentsOf: "\n\(home)".utf8) }
    self.bytes = bytes
  }

  func hash(into hasher: inout Hasher) {
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}
