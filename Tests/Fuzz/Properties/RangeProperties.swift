import HTTP

/// What must hold of byte ranges, whatever the field says.
enum RangeProperties {
  private static let sizes = [0, 1, 2, 10, 1000, 1_000_000, Int.max - 1, Int.max]

  /// What does not hold, as a sentence. The input's first byte chooses the representation's size
  /// and how many parts there may be; the field's value follows.
  static func fault(in input: [UInt8]) -> String? {
    let input = FuzzInput(input)
    let size = sizes[Int(input.choice & 7)]
    let maximumParts = Int(input.choice >> 3 & 7)
    let value = String(decoding: input.content, as: UTF8.self)
    // The fuzzer need not find the unit in each input.
    return fault(value, size, maximumParts) ?? fault("bytes=" + value, size, maximumParts)
  }

  private static func fault(_ value: String, _ size: Int, _ maximumParts: Int) -> String? {
    let selection = ByteRanges.select(value, size: size, maximumParts: maximumParts)
    let upper = ByteRanges.select(asciiUppercased(value), size: size, maximumParts: maximumParts)
    if upper != selection { return "\(value) is \(selection), in capitals \(upper)" }
    guard case .parts(let parts) = selection else { return nil }

    if parts.isEmpty || parts.count > maximumParts { return "\(value) has \(parts.count) parts" }
    var bytesLeft = size
    for part in parts {
      if part.isEmpty || part.lowerBound < 0 || part.upperBound > size || part.count > bytesLeft {
        return "the part \(part) of \(value) is not among \(size) bytes, or sent too often"
      }
      bytesLeft -= part.count
    }
    let written = parts.map { "\($0.lowerBound)-\($0.upperBound - 1)" }.joined(separator: ",")
    let again = ByteRanges.select("bytes=" + written, size: size, maximumParts: maximumParts)
    return again == selection ? nil : "\(value) is \(parts), and written as \(written) \(again)"
  }

  private static func asciiUppercased(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { ("a"..."z").contains($0) ? Unicode.Scalar($0.value - 32)! : $0 }))
  }
}
