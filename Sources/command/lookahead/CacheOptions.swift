import ArgumentParser
import FeedServer

/// The keys of answers for caches in front, and the caches to purge.
struct CacheOptions: ParsableArguments {
  @Option(
    "surrogate-key-field", default: CacheKeyField.surrogateKey.name,
    "Response header field with the keys to purge cached answers by; none omits it.")
  var surrogateKeyField: String

  @Option(
    "purge-url", default: "",
    "URLs of caches, separated by commas, to which PURGE requests are sent when data changes.")
  var purgeUrl: String

  /// The maximum number of caches, as each has a thread.
  private static let maximumCaches = 32
  /// The value for no such field.
  private static let noField = "none"

  mutating func validate() throws {
    let targets = try targets()
    if try keyField() == nil, !targets.isEmpty {
      throw ValidationError(
        "--purge-url needs --surrogate-key-field: without it, answers have no keys to purge by")
    }
  }

  /// The field; `nil` for none.
  ///
  /// - Throws: `ValidationError`.
  func keyField() throws -> CacheKeyField? {
    if surrogateKeyField.lowercased() == Self.noField { return nil }
    guard let field = CacheKeyField(name: surrogateKeyField) else {
      throw ValidationError(
        "--surrogate-key-field: \"\(surrogateKeyField)\" is not the name of a header field, or "
          + "the field has another meaning; use Surrogate-Key, Cache-Tag, xkey, or none")
    }
    return field
  }

  /// The caches.
  ///
  /// - Throws: `ValidationError`.
  func targets() throws -> [HTTPTarget] {
    let urls = purgeUrl.split(separator: ",").map { $0.filter { $0 != " " } }
    guard urls.count <= Self.maximumCaches else {
      throw ValidationError(
        "--purge-url: \(urls.count) caches, more than \(Self.maximumCaches)")
    }
    return try urls.map { url in
      guard let target = HTTPTarget(url: url) else {
        throw ValidationError(
          "--purge-url: \"\(url)\" is not a URL such as http://10.0.0.5:6081/; https and "
            + "credentials are not supported, use a proxy for them")
      }
      return target
    }
  }
}
