/// A coding that this server can give a representation (RFC 9110 section 8.4.1); the raw value is
/// the name that `Content-Encoding` has for it.
public enum ContentCoding: String, Sendable, Hashable, CaseIterable {
  /// No coding: named in `Accept-Encoding` only, never in `Content-Encoding`.
  case identity
  /// The gzip file format of RFC 1952.
  case gzip
  /// Brotli, RFC 7932.
  case brotli = "br"
}
