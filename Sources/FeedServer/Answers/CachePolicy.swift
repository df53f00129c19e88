/// How long answers may be kept by caches, RFC 9111 and RFC 5861.
struct CachePolicy: Sendable {
  /// One `Cache-Control`.
  struct Directive: Sendable {
    /// `nil`: never stored.
    let value: String?

    static let none = Directive(value: nil)
  }

  let pages: Directive
  let documents: Directive
  let media: Directive

  init(maxAgeSeconds: Int, staleWhileRevalidateSeconds: Int, mediaMaxAgeSeconds: Int) {
    pages = Self.directive(maxAgeSeconds, staleWhileRevalidateSeconds)
    documents = Self.directive(3600, 86_400)
    media = Directive(value: "max-age=\(mediaMaxAgeSeconds)")
  }

  private static func directive(_ maxAge: Int, _ staleWhileRevalidate: Int) -> Directive {
    Directive(
      value: "max-age=\(maxAge), stale-while-revalidate=\(staleWhileRevalidate)")
  }
}
