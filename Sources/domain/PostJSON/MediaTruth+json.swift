import Feed
import JSON

extension MediaTruth {
  fileprivate static let known = [
    "bytes", "codec", "durationMs", "encrypted", "frames", "hasSound", "height", "kind", "mimeType",
    "placeholder", "soundCodec", "start", "undecoded", "version", "width",
  ]

  /// The maximum number of bytes of its JSON.
  public static let jsonBytes = 65_536

  /// Decodes facts from JSON.
  ///
  /// - Throws: `RecordError`, which names the field.
  public init(json: [UInt8]) throws(RecordError) {
    guard json.count <= Self.jsonBytes else {
      throw RecordError(field: "", problem: "has \(json.count) bytes, more than \(Self.jsonBytes)")
    }
    try self.init(RecordFields(Self.document(json).root, known: Self.known))
  }

  static func document(_ json: [UInt8]) throws(RecordError) -> JSONDocument {
    do throws(JSONError) {
      return try JSONDocument(json, depthLimit: RecordLimits.depth)
    } catch {
      throw RecordError(field: "", problem: "is not JSON: \(error)")
    }
  }

  fileprivate init(_ fields: RecordFields) throws(RecordError) {
    let size = try fields.number("bytes", in: 0...RecordLimits.fileBytes)
    guard let size else { throw fields.error("bytes", "is missing") }
    self.init(
      kind: try fields.option("kind"), bytes: size,
      mimeType: try fields.name("mimeType", limit: .bytes(RecordLimits.mediaTypeBytes)),
      codec: try fields.text("codec", limit: .bytes(RecordLimits.mediaTypeBytes)),
      soundCodec: try fields.text("soundCodec", limit: .bytes(RecordLimits.mediaTypeBytes)),
      hasSound: try fields.boolean("hasSound"),
      width: try fields.number("width", in: 1...RecordLimits.pixels),
      height: try fields.number("height", in: 1...RecordLimits.pixels),
      frameCount: try fields.number("frames", in: 1...RecordLimits.number),
      durationMilliseconds: try fields.number("durationMs", in: 0...RecordLimits.number),
      placeholder: try fields.has("placeholder")
        ? MediaPlaceholder(json: fields.value("placeholder")) : nil,
      start: try fields.has("start") ? Self.timing(fields.value("start"), size) : nil,
      version: try Self.version(fields))
    isEncrypted = try fields.boolean("encrypted") ?? false
    missingDecoder = try Self.missingDecoder(fields)
    if let placeholder, !placeholder.isWhole {
      throw fields.error("placeholder", "has no thumbhash or no color")
    }
    if soundCodec != nil, hasSound != true {
      throw fields.error("hasSound", "is not true, but there is a soundCodec")
    }
  }

  private static func missingDecoder(
    _ fields: RecordFields
  ) throws(RecordError) -> MissingDecoder? {
    guard fields.has("undecoded") else { return nil }
    // Older versions wrote a boolean without the decoder's name.
    if let isUndecoded = try fields.value("undecoded").truth { return isUndecoded ? .ffmpeg : nil }
    return try fields.option("undecoded")
  }

  private static func version(_ fields: RecordFields) throws(RecordError) -> MediaVersion? {
    guard let text = try fields.text("version", limit: .bytes(MediaVersion.textBytes)) else {
      return nil
    }
    guard let version = MediaVersion(text: text) else {
      throw fields.error("version", "is not sha256:…, etag:\"…\" or modified:…")
    }
    return version
  }

  /// Decodes the timing of a file of this many bytes.
  static func timing(
    _ value: JSONValue, _ fileBytes: Int,
    known: [String]? = ["curve", "headBytes", "lead", "needed", "scans", "startable"]
  ) throws(RecordError) -> MediaTiming {
    let fields = try RecordFields(value, known: known)
    guard let headBytes = try fields.number("headBytes", in: 0...RecordLimits.fileBytes) else {
      throw fields.error("headBytes", "is missing")
    }
    let needed = try fields.pairs("needed", limit: MediaTiming.rowLimit)
    for (first, last) in needed where last < first {
      throw fields.error("needed", "has a range that ends before it begins")
    }
    let timing = MediaTiming(
      isStartable: try fields.boolean("startable") ?? true, headBytes: headBytes,
      neededRanges: needed.map { $0..<$1 + 1 },
      scanEnds: try fields.list("scans", limit: MediaTiming.rowLimit, number),
      curve: try fields.pairs("curve", limit: MediaTiming.rowLimit).map {
        .init(milliseconds: $0, bytes: $1)
      },
      lead: try fields.pairs("lead", limit: MediaTiming.rowLimit).map {
        .init(kilobitsPerSecond: $0, bytes: $1)
      })
    if let (field, words) = timing.problem(fileBytes: fileBytes) {
      throw fields.error(field, words)
    }
    return timing
  }

  private static func number(_ value: JSONValue) throws(RecordError) -> Int {
    let number = try value.checkedNumber()
    guard (0...RecordLimits.number).contains(number) else {
      throw value.error("\(number) is not in 0…\(RecordLimits.number)")
    }
    return number
  }
}
