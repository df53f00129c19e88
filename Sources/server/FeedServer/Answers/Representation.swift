import CXXHash
import HTTP
import HTTPServer

/// What a route answers with when all is well: bytes of a type, and what caches and clients need to know
/// of them.
struct Representation: Sendable {
  let body: [UInt8]
  let type: ContentType
  let caching: CachePolicy.Directive
  /// The request's fields that it depends on, beside the coding.
  var varyingFields: VaryingFields = []
  /// What it leads to.
  var links = LinkField.none
  /// By what caches in front are told to forget it, where it is of what may be kept.
  var cacheKeys = CacheKeys.none
  /// The version of what is represented, for clients that want to change it: the first part of the
  /// entity tag.
  var version: String?
  /// The hash, if the maker of the body had it from the parts.
  private let knownHash: ContentHash?

  /// - Parameter hash: that of the body's parts, where it has any; else the body's own is used.
  init(
    _ body: [UInt8], _ type: ContentType = .json, hash: ContentHash? = nil,
    caching: CachePolicy.Directive
  ) {
    self.body = body
    self.type = type
    self.caching = caching
    knownHash = hash
  }

  /// What the bytes are told from others by; the same on every replica and after every restart.
  var hash: ContentHash { knownHash ?? ContentHash(body.span) }

  /// A strong validator (RFC 9110 section 8.8.3), one for each coding: it is made of the bytes and of
  /// nothing else, so it changes when they do.
  func entityTag(_ hash: ContentHash, _ coding: ContentCoding) -> EntityTag {
    var tag = hash.hexadecimal
    if let version { tag = version + EntityTag.versionEnd + tag }
    return EntityTag(coding == .identity ? tag : tag + "-" + coding.rawValue)
  }

  /// The answer, with fields that forbid caching.
  var uncached: Response {
    var fields = caching.fields
    fields.append(type.fields)
    return Response(.ok, fields: fields, bytes: body)
  }

  /// The fields that every answer with it has, 304 among them.
  func fields(_ tag: EntityTag) -> Fields {
    var fields = Fields()
    fields.reserveCapacity(960)
    fields.append("ETag") { value in tag.write(to: &value) }
    fields.append(caching.fields(varyingBy: varyingFields))
    if !links.isEmpty { fields.append("Link") { links.write(to: &$0) } }
    if let keyField = caching.keyField, cacheKeys.areAny {
      fields.append(keyField.name) { keyField.write(cacheKeys, to: &$0) }
    }
    return fields
  }
}

extension EntityTag {
  /// What stands between a version and the rest of a tag.
  static let versionEnd = "."
}

/// What tells bytes from all others: XXH3 of 128 bits, the same on every machine.
struct ContentHash: Hashable, BitwiseCopyable, Sendable {
  let high: UInt64
  let low: UInt64

  /// The hash of the bytes.
  init(_ bytes: UnsafeRawBufferPointer) {
    let hash = lookahead_xxh3_128(bytes.baseAddress, bytes.count)
    (high, low) = (hash.high, hash.low)
  }

  /// The hash of the bytes.
  init(_ bytes: Span<UInt8>) {
    self = bytes.bytes.withUnsafeBytes { ContentHash($0) }
  }

  /// The hash of something whose parts begin and end where its bytes say: that of their hashes, in order.
  init(ofParts parts: [ContentHash]) {
    self = parts.withUnsafeBytes { ContentHash($0) }
  }

  /// In 32 digits.
  var hexadecimal: String {
    String(unsafeUninitializedCapacity: 32) { text in
      // Sixteen digits of four bits for each half.
      for index in 0..<16 {
        text[index] = Self.digit(high >> UInt64(60 - 4 * index))
        text[16 + index] = Self.digit(low >> UInt64(60 - 4 * index))
      }
      return 32
    }
  }

  /// In few characters, for what stands before something else.
  var short: String { String(high, radix: 36) + "-" + String(low, radix: 36) }

  private static func digit(_ bits: UInt64) -> UInt8 {
    let value = UInt8(truncatingIfNeeded: bits & 15)
    return value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
  }
}

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
