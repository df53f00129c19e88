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
    let version = version.map { $0 + EntityTag.versionEnd } ?? ""
    let bytes = Self.hexadecimal(hash.high) + Self.hexadecimal(hash.low)
    return EntityTag(version + bytes + (coding == .identity ? "" : "-" + coding.rawValue))
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private static func hexadecimal(_ number: UInt64) -> String {
    String(unsafeUninitializedCapacity: 16) { text in
      // Sixteen digits of four bits each.
      for index in 0..<16 { text[index] = digits[Int(number >> UInt64(60 - 4 * index) & 15)] }
      return 16
    }
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
    fields.append("ETag", tag.description)
    fields.append("Cache-Control", caching.value ?? "no-store")
    fields.append("Vary", varyingFields.reduce("Accept-Encoding") { $0 + ", " + $1 })
    if let first = links.first {
      let value = links.dropFirst().reduce("<\(first.target)>; rel=\"\(first.relation)\"") {
        $0 + ", <" + $1.target + ">; rel=\"" + $1.relation + "\""
      }
      fields.append("Link", value)
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
