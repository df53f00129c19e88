import ArgumentParser
import FeedServer

/// What caches in front know answers by, and how they are told what changed.
struct CacheOptions: ParsableArguments {
  @Option(
    "surrogate-key-field", default: CacheKeyField.surrogateKey.name,
    "The field in which answers have the keys by which caches forget them; none leaves it out.")
  var surrogateKeyField: String

  @Option(
    "purge-url", default: "",
    "URLs of caches, separated by commas, that are told by PURGE what changed.")
  var purgeUrl: String

  /// Each has a thread.
  private static let maximumCaches = 32
  /// Says that there is no such field.
  private static let noField = "none"

  mutating func validate() throws {
    let targets = try targets()
    if try keyField() == nil, !targets.isEmpty {
      throw ValidationError(
        "--purge-url: without --surrogate-key-field answers have no keys to be purged by")
    }
  }

  /// The field; nil where there is to be none.
  ///
  /// - Throws: `ValidationError`.
  func keyField() throws -> CacheKeyField? {
    if surrogateKeyField.lowercased() == Self.noField { return nil }
    guard let field = CacheKeyField(name: surrogateKeyField) else {
      throw ValidationError(
        "--surrogate-key-field: \"\(surrogateKeyField)\" is no name of a field, or of one with another "
          + "meaning; take Surrogate-Key, Cache-Tag or xkey, or none")
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
        "--purge-url: \(urls.count) caches are more than \(Self.maximumCaches)")
    }
    return try urls.map { url in
      guard let target = HTTPTarget(url: url) else {
        throw ValidationError(
          "--purge-url: \"\(url)\" is not a URL such as http://10.0.0.5:6081/; https and users are "
            + "for a proxy between the two")
      }
      return target
    }
  }
}
