import HTTP

/// What a representation's bytes are. There are a few, which all representations share.
final class ContentType: Sendable {
  /// The fields that say so, and that browsers are to believe it.
  let fields: Fields
  /// Whether compressing it makes it smaller.
  let isCompressible: Bool

  /// - Parameter value: the media type, RFC 9110 section 8.3.1.
  init(_ value: String, isCompressible: Bool = true) {
    fields = ["Content-Type": value, "X-Content-Type-Options": "nosniff"]
    self.isCompressible = isCompressible
  }

  /// - Parameter policy: what a document of this type may load and do (Content Security Policy Level 3).
  init(_ value: String, policy: String) {
    fields = [
      "Content-Type": value, "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer",
      "Cross-Origin-Opener-Policy": "same-origin",
    ]
    isCompressible = true
  }

  static let json = ContentType("application/json")
  /// JSON Feed (jsonfeed.org/version/1.1, section "MIME Type").
  static let jsonFeed = ContentType("application/feed+json")
  /// RSS: the type that autodiscovery names.
  static let rss = ContentType("application/rss+xml; charset=utf-8")
  static let problem = ContentType("application/problem+json")
}
