import Foundation

/// URLs in documents.
enum WebAddress {
  /// Resolves a reference within a document (RFC 3986 section 5.2). A reference with a scheme stays as it is,
  /// and so does any if the document's URL is unknown. Returns nil for invalid references and for schemes
  /// other than http and https, because readers load or open what an untrusted document names.
  static func resolve(_ reference: String?, base: String? = nil) -> String? {
    guard let reference = reference?.trimmed else { return nil }
    if StableID.isGlobal(reference) { return isOfWeb(reference) ? reference : nil }
    guard let base, isOfWeb(base), let url = URL(string: base) else { return reference }
    return URL(string: reference, relativeTo: url)?.absoluteString
  }

  /// Resolves a reference in a record. A reference that begins with a slash is relative to the server at
  /// `home`, which ends with a slash. Returns nil as `resolve` does, and for an invalid URL.
  static func absolute(_ reference: String, home: String) -> String? {
    guard reference.hasPrefix("/"), !reference.hasPrefix("//") else {
      return resolve(reference, base: home)
    }
    return URL(string: home + reference.dropFirst())?.absoluteString
  }

  /// Whether it is an http or https URL.
  static func isOfWeb(_ url: String) -> Bool {
    let start = url.prefix(8).asciiLowercased
    return start.hasPrefix("http://") || start.hasPrefix("https://")
  }

  /// The host of a URL, with its port: `social.example`.
  static func host(of url: String?) -> String? {
    guard let url, isOfWeb(url), let slashes = url.range(of: "//") else { return nil }
    let authority = url[slashes.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let host = authority.split(separator: "@").last.map(String.init)
    return host?.asciiLowercased
  }
}
