/// A file that shows the same as another one, in fewer bytes: narrower, or coded otherwise.
public struct MediaVariant: Hashable, Sendable {
  /// Where to load it.
  @ByBytes public var url: String
  /// What is known of it.
  public var truth: MediaTruth

  /// How many a file has at the most.
  public static let limit = 16

  /// The variant at a URL.
  public init(url: String, truth: MediaTruth) {
    self.url = url
    self.truth = truth
  }

  /// Why these cannot be the variants of one file; `nil` where they can.
  public static func problem(_ variants: [MediaVariant]) -> String? {
    if variants.count > limit { return "are \(variants.count), more than \(limit)" }
    for variant in variants {
      if variant.url.isEmpty || variant.url.utf8.count > RecordLimits.urlBytes {
        return "have a URL of \(variant.url.utf8.count) bytes, not 1 to \(RecordLimits.urlBytes)"
      }
      if !variant.truth.variants.isEmpty { return "have variants themselves" }
      if variant.truth.version == nil { return "have no version" }
      if let (field, words) = variant.truth.problem { return "hold \(field) that \(words)" }
    }
    let sizes = variants.map(\.truth.bytes)
    return zip(sizes, sizes.dropFirst()).allSatisfy { $0 <= $1 }
      ? nil : "are not in the order of their sizes"
  }
}
