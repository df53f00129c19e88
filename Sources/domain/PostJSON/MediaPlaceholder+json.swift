import Feed
import JSON

extension MediaPlaceholder {
  /// Decodes a placeholder: a ThumbHash in base64, a colour in CSS notation, or both.
  ///
  /// - Parameter known: The fields that it may have; `nil` to ignore others.
  /// - Throws: `RecordError`, which names the field.
  init(
    json value: JSONValue, known: [String]? = ["color", "thumbhash"]
  ) throws(RecordError) {
    let fields = try RecordFields(value, known: known)
    self.init()
    if fields.has("thumbhash") {
      thumbHash = Base64.decode(try fields.name("thumbhash", limit: .bytes(64)))
      guard let thumbHash, Self.thumbHashBytes.contains(thumbHash.count) else {
        throw fields.error("thumbhash", "is not a ThumbHash in base64")
      }
    }
    if fields.has("color") {
      color = Color(text: try fields.name("color", limit: .bytes(7)))
      if color == nil { throw fields.error("color", "is not a colour such as #6b7a3d") }
    }
    if self == MediaPlaceholder() { throw value.error("has neither a thumbhash nor a color") }
  }

  /// Decodes a placeholder from what `json` writes.
  ///
  /// - Throws: `RecordError`, which names the field.
  public init(json: [UInt8]) throws(RecordError) {
    try self.init(json: MediaTruth.document(json).root)
  }

  /// The placeholder as JSON, in the form that `init(json:)` reads.
  public var json: [UInt8] {
    var writer = JSONWriter(capacity: 80)
    writer.placeholder(self)
    return writer.bytes
  }
}

extension JSONWriter {
  /// Writes a placeholder as an object of its present parts.
  mutating func placeholder(_ placeholder: MediaPlaceholder) {
    // The placeholders of our own probe have both parts and are on most pages: written at once.
    if let hash = placeholder.thumbHash, let color = placeholder.color {
      return literal(capacity: Base64.count(hash.count) + 64) { text in
        text.append(#"{"thumbhash":""#)
        text.append(base64: hash)
        text.append(##"","color":"#"##)
        text.append(hexadecimal: color.red)
        text.append(hexadecimal: color.green)
        text.append(hexadecimal: color.blue)
        text.append(#""}"#)
      }
    }
    object { writer in
      if let hash = placeholder.thumbHash {
        writer.key("thumbhash")
        writer.literal(capacity: Base64.count(hash.count) + 2) { text in
          text.append("\"")
          text.append(base64: hash)
          text.append("\"")
        }
      }
      if let color = placeholder.color {
        writer.key("color")
        writer.literal(capacity: 9) { text in
          text.append("\"#")
          text.append(hexadecimal: color.red)
          text.append(hexadecimal: color.green)
          text.append(hexadecimal: color.blue)
          text.append("\"")
        }
      }
    }
  }
}
