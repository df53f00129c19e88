/// The size of an SVG image (SVG 2 sections 5.1.2 and 8.2). It renders and runs nothing, and reads
/// nothing after the first tag.
struct SVG {
  /// The number of bytes inspected: comments and a document type may precede the first tag.
  static let headBytes = 64 << 10

  /// CSS pixels per unit (CSS Values 4 section 6.2); other units depend on the context.
  private static let pixelsPerUnit: [String: Double] = [
    "": 1, "px": 1, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6, "pt": 96.0 / 72,
    "pc": 16,
  ]

  /// Returns nil for markup other than SVG.
  static func structure(_ reader: ByteReader) throws -> MediaStructure? {
    let head = try reader.available(at: 0, upTo: headBytes, in: "svg")
    guard let attributes = rootAttributes(String(decoding: head, as: UTF8.self)) else { return nil }
    let size = size(attributes)
    try size?.check(reader.limits, at: 0, in: "svg")
    return MediaStructure(
      type: .svg, kind: .image, bytes: reader.size, codedSize: size, displaySize: size,
      orientation: .upright, hasAlpha: true, frameCount: 1, durationMilliseconds: nil,
      videoCodec: "svg", audioCodec: nil, layout: .stream,
      start: .image(reader.size, scanEnds: []), flaws: [])
  }

  private static func size(_ attributes: [String: String]) -> PixelSize? {
    var width = attributes["width"].flatMap(pixels)
    var height = attributes["height"].flatMap(pixels)
    let box = (attributes["viewBox"] ?? "")
      .split { $0 == "," || $0.isWhitespace }.compactMap { Double($0) }
    if box.count == 4, box[2] > 0, box[3] > 0 {
      // A missing side follows from the other one and the aspect ratio.
      if width == nil, height == nil { (width, height) = (box[2], box[3]) }
      width = width ?? height.map { $0 * box[2] / box[3] }
      height = height ?? width.map { $0 * box[3] / box[2] }
    }
    guard let width, let height, let wide = whole(width), let high = whole(height) else {
      return nil
    }
    return PixelSize(wide, high)
  }

  private static func whole(_ value: Double) -> Int? {
    Int(exactly: value.rounded()).flatMap { $0 <= Int(Int32.max) ? max($0, 1) : nil }
  }

  /// Returns a length in pixels; nil if it depends on the context or is not positive.
  private static func pixels(_ text: String) -> Double? {
    let text = text.filter { !$0.isWhitespace }
    let digits = text.prefix { $0.isNumber || "+-.".contains($0) }
    guard let number = Double(digits), number > 0, number.isFinite else { return nil }
    return pixelsPerUnit[text.dropFirst(digits.count).lowercased()].map { number * $0 }
  }

  /// Returns the attributes of the first tag; nil if it is not `svg`.
  private static func rootAttributes(_ text: String) -> [String: String]? {
    var rest = text.unicodeScalars[...]
    if rest.first == "\u{feff}" { rest.removeFirst() }
    while true {
      rest = rest.drop(while: \.properties.isWhitespace)
      if skip(&rest, from: "<?", to: "?>") || skip(&rest, from: "<!--", to: "-->")
        || skip(&rest, from: "<!", to: ">")
      {
        continue
      }
      break
    }
    guard rest.first == "<" else { return nil }
    let name = rest.dropFirst().prefix { !isNameEnd($0) }
    guard
      name.elementsEqual("svg".unicodeScalars)
        || name.suffix(4).elementsEqual(":svg".unicodeScalars)
    else { return nil }
    return attributes(rest.dropFirst(1 + name.count))
  }

  private static func isNameEnd(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || [">", "/", "="].contains(scalar)
  }

  private static func skip(
    _ rest: inout Substring.UnicodeScalarView, from start: String, to end: String
  ) -> Bool {
    guard rest.starts(with: start.unicodeScalars) else { return false }
    while !rest.isEmpty, !rest.starts(with: end.unicodeScalars) { rest.removeFirst() }
    rest = rest.dropFirst(end.unicodeScalars.count)
    return true
  }

  private static func attributes(_ text: Substring.UnicodeScalarView) -> [String: String] {
    var rest = text
    var found: [String: String] = [:]
    while true {
      rest = rest.drop { $0.properties.isWhitespace }
      let name = rest.prefix { !isNameEnd($0) }
      rest = rest.dropFirst(name.count).drop { $0.properties.isWhitespace }
      guard !name.isEmpty, rest.first == "=" else { return found }
      rest = rest.dropFirst().drop { $0.properties.isWhitespace }
      guard let quote = rest.first, quote == "\"" || quote == "'" else { return found }
      let value = rest.dropFirst().prefix { $0 != quote }
      rest = rest.dropFirst(value.count + 2)
      if found[String(name)] == nil { found[String(name)] = String(value) }
    }
  }
}
