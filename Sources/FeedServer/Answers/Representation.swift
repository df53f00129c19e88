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
  /// The version of what is represented, for those who would change it: the first part of the
  /// entity tag.
  var version: String?
  /// The hash, where whoever made the body had it from the parts.
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

  /// The answer with what nobody is to keep.
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
