import Feed

/// Something that other formats have and our records have no field for.
package enum Omission: String, CaseIterable, Sendable {
  /// A file that is neither a picture nor a video nor sound.
  case file
  /// A further size or coding of a file of which another is kept.
  case rendition
  /// A picture within a text.
  case pictureInText
  /// A post that was removed: all of it.
  case removed
  /// A comment: all of it.
  case comment
  /// In which language a post is, where that is no tag.
  case language
  /// A field of a row for which no column is named.
  case column

  private var words: (one: String, many: String) {
    switch self {
    case .file: ("file of another kind", "files of another kind")
    case .rendition: ("further rendition", "further renditions")
    case .pictureInText: ("picture within a text", "pictures within texts")
    case .removed: ("removed post", "removed posts")
    case .comment: ("comment", "comments")
    case .language: ("language that is not a tag", "languages that are not tags")
    case .column: ("field of a column that is not mapped", "fields of columns that are not mapped")
    }
  }

  /// Its number, in words.
  func text(_ count: Int) -> String { "\(count) \(count == 1 ? words.one : words.many)" }
}

/// How often each thing was not kept.
package struct Omissions: Hashable, Sendable, CustomStringConvertible {
  private var counts: [Omission: Int] = [:]

  /// Nothing.
  package init() {}

  /// Whether everything was kept.
  package var isEmpty: Bool { counts.isEmpty }

  /// How often it was not kept.
  package subscript(_ omission: Omission) -> Int { counts[omission] ?? 0 }

  /// Counts something, this many times.
  package mutating func add(_ omission: Omission, _ count: Int = 1) {
    if count > 0 { counts[omission, default: 0] += count }
  }

  /// The tag of a language as records have it, written with underscores or hyphens; what is invalid is counted.
  mutating func language(_ tag: String?) -> String? {
    guard let tag = tag?.replacing("_", with: "-") else { return nil }
    if LanguageTag.isWellFormed(tag) { return tag }
    add(.language)
    return nil
  }

  /// Counts what others counted, too.
  package mutating func add(_ others: Omissions) {
    for (omission, count) in others.counts { add(omission, count) }
  }

  /// `3 sound files, 1 poll`, in the order of the cases.
  package var description: String {
    Omission.allCases.filter { self[$0] > 0 }.map { $0.text(self[$0]) }.joined(separator: ", ")
  }
}
