import Feed

/// A part of another format for which records have no field.
package enum Omission: String, CaseIterable, Sendable {
  /// A file that is not a picture, a video or sound.
  case file
  /// A further size or encoding of a file of which another is kept.
  case rendition
  /// A picture within a text.
  case pictureInText
  /// A removed post, which is dropped as a whole.
  case removed
  /// A comment, which is dropped as a whole.
  case comment
  /// A post's language that is not a valid language tag.
  case language
  /// A field of a row whose column is not mapped.
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

  /// The count with its noun.
  func text(_ count: Int) -> String { "\(count) \(count == 1 ? words.one : words.many)" }
}

/// Counts of what was not kept.
package struct Omissions: Hashable, Sendable, CustomStringConvertible {
  private var counts: [Omission: Int] = [:]

  /// Creates empty counts.
  package init() {}

  /// Whether everything was kept.
  package var isEmpty: Bool { counts.isEmpty }

  /// The count of this omission.
  package subscript(_ omission: Omission) -> Int { counts[omission] ?? 0 }

  /// Adds to the count of an omission.
  package mutating func add(_ omission: Omission, _ count: Int = 1) {
    if count > 0 { counts[omission, default: 0] += count }
  }

  /// Returns a language tag with hyphens in place of underscores; counts an invalid tag and returns nil.
  mutating func language(_ tag: String?) -> String? {
    guard let tag = tag?.replacing("_", with: "-") else { return nil }
    if LanguageTag.isWellFormed(tag) { return tag }
    add(.language)
    return nil
  }

  /// Adds the counts of others.
  package mutating func add(_ others: Omissions) {
    for (omission, count) in others.counts { add(omission, count) }
  }

  /// The counts in the order of the cases: `3 files of another kind, 1 comment`.
  package var description: String {
    Omission.allCases.filter { self[$0] > 0 }.map { $0.text(self[$0]) }.joined(separator: ", ")
  }
}
