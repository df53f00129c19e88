/// The name of a rendition's file: `9f86d081884c7d659a2feaa0c55ad015.w640-1.webp`. It says of which content
/// it is one, what it shows, and which recipe made it, so that it is told from the name alone whether it has
/// to be made.
package struct RenditionName: Hashable, Sendable {
  /// What stands at the name's end while the file is being made.
  package static let partialSuffix = ".partial"
  /// What stands at the end of the name of an empty file, in place of a rendition that would save too little.
  package static let droppedSuffix = ".none"
  /// Greater when renditions are made otherwise than before: then all are made anew.
  static let revision = 1

  /// The first half of the content's SHA-256, in hexadecimal.
  package let content: String
  private let rung: String
  /// Of the recipe.
  private let madeBy: Int
  private let suffix: String

  /// The name of a content's rendition.
  package init(_ rendition: Rendition, ofContent sha256: [UInt8]) {
    content = Self.content(sha256)
    rung = rendition.coding.rawValue + String(rendition.rung)
    madeBy = Self.revision
    suffix = rendition.coding == .video ? ".mp4" : ".webp"
  }

  /// What a name says; nil for any name that is not one of ours.
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

  /// Whether it is one that this program would make.
  package var isCurrent: Bool { madeBy == Self.revision }
  /// Whether it is a file in the making.
  package var isPartial: Bool { suffix.hasSuffix(Self.partialSuffix) }

  /// What the name says of a content.
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
