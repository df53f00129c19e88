import Foundation

/// URLs as documents have them.
enum WebAddress {
  /// What a reference within a document stands for (RFC 3986 section 5.2): itself, where it has a scheme
  /// or the document does not say where it is. Nil where it is invalid, or of another scheme than http and
  /// https: what a stranger's document names is loaded or opened by others.
  static func resolve(_ reference: String?, base: String? = nil) -> String? {
    guard let reference = reference?.trimmed else { return nil }
    if StableID.isGlobal(reference) { return isOfWeb(reference) ? reference : nil }
    guard let base, isOfWeb(base), let url = URL(string: base) else { return reference }
    return URL(string: reference, relativeTo: url)?.absoluteString
  }

  /// Where a reference is that stands in a record: what begins with a slash is on the server of that home, which
  /// ends with one. Nil as of `resolve`, and where it is no URL at all.
  static func absolute(_ reference: String, home: String) -> String? {
    guard reference.hasPrefix("/"), !reference.hasPrefix("//") else {
      return resolve(reference, base: home)
    }
    return URL(string: home + reference.dropFirst())?.absoluteString
  }

  /// Whether it is a URL of http or https.
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
