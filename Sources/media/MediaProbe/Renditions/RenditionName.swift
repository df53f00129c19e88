/// The name of a rendition's file: `9f86d081884c7d659a2feaa0c55ad015.w640-1.webp`. It contains the
/// original's content, the size, and the revision of the recipe, so that the name alone tells whether the
/// rendition has to be made.
package struct RenditionName: Hashable, Sendable {
  /// The suffix of the name while the file is being written.
  package static let partialSuffix = ".partial"
  /// The suffix of the name of an empty file, in place of a rendition that would save too little.
  package static let droppedSuffix = ".none"
  /// The revision of the recipe. A change of the recipe increments it, and all renditions are made again.
  static let revision = 1

  /// The first half of the content's SHA-256, in hexadecimal.
  package let content: String
  private let rung: String
  /// The revision of the recipe that made the file.
  private let madeBy: Int
  private let suffix: String

  /// Creates the name of a content's rendition.
  package init(_ rendition: Rendition, ofContent sha256: [UInt8]) {
    content = Self.content(sha256)
    rung = rendition.coding.rawValue + String(rendition.rung)
    madeBy = Self.revision
    suffix = rendition.coding == .video ? ".mp4" : ".webp"
  }

  /// Parses a name; returns nil if it is not that of a rendition.
  package init?(_ name: String) {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard (3...4).contains(parts.count), parts[0].utf8.count == 32,
      parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
      parts[2] == "webp" || parts[2] == "mp4",
      parts.count == 3 || parts[3] == "partial" || parts[3] == "none"
    else { return nil }
    let recipe = parts[1].split(separator: "-", omittingEmptySubsequences: false)
    guard recipe.count == 2, let coding = recipe[0].first,
      Rendition.Coding(rawValue: String(coding)) != nil,
      Self.number(recipe[0].dropFirst()) != nil, let revision = Self.number(recipe[1])
    else { return nil }
    content = String(parts[0])
    rung = String(recipe[0])
    madeBy = revision
    suffix = "." + parts[2...].joined(separator: ".")
  }

  /// The name.
  package var text: String { "\(content).\(rung)-\(madeBy)\(suffix)" }

  /// Whether it has the current recipe.
  package var isCurrent: Bool { madeBy == Self.revision }
  /// Whether the file is still being written.
  package var isPartial: Bool { suffix.hasSuffix(Self.partialSuffix) }

  /// Returns the part of a name that identifies a content.
  package static func content(_ sha256: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    return String(sha256.prefix(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }

  private static func number(_ text: Substring) -> Int? {
    guard (1...6).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return nil
    }
    return Int(text)
  }
}
