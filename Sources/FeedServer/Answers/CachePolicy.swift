import HTTP

/// How long answers may be kept by caches, RFC 9111 and RFC 5861.
struct CachePolicy: Sendable {
  /// One `Cache-Control`, which many answers share.
  final class Directive: Sendable {
    /// `nil`: never stored.
    let value: String?
    /// The field, with those of every answer that any page may read.
    let fields: Fields

    static let none = Directive(nil)

    init(_ value: String?) {
      self.value = value
      var fields: Fields = ["Cache-Control": value ?? "no-store"]
      fields.appendCORS()
      self.fields = fields
    }
  }

  let pages: Directive
  let documents: Directive
  /// Of files that belong together, of one version of the program: asked for anew each time, mostly with 304.
  let files = Directive("no-cache")

  init(maxAgeSeconds: Int, staleWhileRevalidateSeconds: Int) {
    pages = Self.directive(maxAgeSeconds, staleWhileRevalidateSeconds)
    documents = Self.directive(3600, 86_400)
  }

  private static func directive(_ maxAge: Int, _ staleWhileRevalidate: Int) -> Directive {
    Directive("max-age=\(maxAge), stale-while-revalidate=\(staleWhileRevalidate)")
  }
}
