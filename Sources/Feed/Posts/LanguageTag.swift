/// Tags of languages: `en`, `pt-BR`, `zh-Hant-TW`.
public enum LanguageTag {
  /// Whether a text has the form of a tag (RFC 5646 section 2.1): subtags of one to eight letters and digits, with
  /// hyphens between them, the first one of letters. Whether there is such a language is not looked up.
  public static func isWellFormed(_ text: String) -> Bool {
    let subtags = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard text.utf8.count <= RecordLimits.languageBytes, let first = subtags.first else {
      return false
    }
    return first.allSatisfy(isLetter)
      && subtags.allSatisfy { subtag in
        (1...8).contains(subtag.count)
          && subtag.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
      }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }
}
