import CXXHash
import HTTP
import HTTPServer

/// What a route answers with when all is well: JSON, and what caches and clients need to know of it.
struct Representation: Sendable {
  let json: [UInt8]
  let caching: CachePolicy.Directive
  /// The request's fields that it depends on, beside the coding.
  var varyingFields: [String] = []
  /// Relations and targets, RFC 8288.
  var links: [(relation: String, target: String)] = []
  /// The version of what is represented, for those who would change it: the first part of the
  /// entity tag.
  var version: String?

  init(_ json: [UInt8], caching: CachePolicy.Directive) {
    self.json = json
    self.caching = caching
  }

  var hash: (high: UInt64, low: UInt64) {
    let hash = json.withUnsafeBytes { lookahead_xxh3_128($0.baseAddress, $0.count) }
    return (hash.high, hash.low)
  }

  /// A strong validator (RFC 9110 section 8.8.3), one for each coding: it is made of the bytes and of
  /// nothing else, so it changes when they do, and is the same on every replica and after every
  /// restart.
  func entityTag(_ hash: (high: UInt64, low: UInt64), _ coding: ContentCoding) -> EntityTag {
    var tag = Self.hexadecimal(hash)
    if let version { tag = version + EntityTag.versionEnd + tag }
    return EntityTag(coding == .identity ? tag : tag + "-" + coding.rawValue)
  }

  private static func hexadecimal(_ hash: (high: UInt64, low: UInt64)) -> String {
    String(unsafeUninitializedCapacity: 32) { text in
      // Sixteen digits of four bits for each half.
      for index in 0..<16 {
        text[index] = digit(hash.high >> UInt64(60 - 4 * index))
        text[16 + index] = digit(hash.low >> UInt64(60 - 4 * index))
      }
      return 32
    }
  }

  private static func digit(_ bits: UInt64) -> UInt8 {
    let value = UInt8(truncatingIfNeeded: bits & 15)
    return value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
  }

  /// The answer with what nobody is to keep.
  var uncached: Response {
    var fields: Fields = ["Cache-Control": "no-store"]
    fields.appendCORS()
    fields.appendJSON()
    return Response(.ok, fields: fields, bytes: json)
  }

  /// The fields that every answer with it has, 304 among them.
  func fields(_ tag: EntityTag) -> Fields {
    var fields = Fields()
    fields.reserveCapacity(1024)
    fields.append("ETag") { value in tag.write(to: &value) }
    fields.append("Cache-Control", caching.value ?? "no-store")
    fields.append("Vary") { value in
      value.append(text: "Accept-Encoding")
      for field in varyingFields {
        value.append(text: ", ")
        value.append(text: field)
      }
    }
    if !links.isEmpty {
      fields.append("Link") { value in
        for (index, link) in links.enumerated() {
          value.append(text: index == 0 ? "<" : ", <")
          value.append(text: link.target)
          value.append(text: ">; rel=\"")
          value.append(text: link.relation)
          value.append(UInt8(ascii: "\""))
        }
      }
    }
    fields.appendCORS()
    return fields
  }
}

extension EntityTag {
  /// What stands between a version and the rest of a tag.
  static let versionEnd = "."
}

extension Fields {
  private static let json: Fields = [
    "Content-Type": "application/json", "X-Content-Type-Options": "nosniff",
  ]

  mutating func appendJSON() { append(Self.json) }
}
