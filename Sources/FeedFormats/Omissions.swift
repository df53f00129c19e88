/// Something that other formats have and our records have no field for.
public enum Omission: String, CaseIterable, Sendable {
  /// A file that is neither a picture nor a video.
  case file
  /// A file of sound alone.
  case sound
  /// A further size or coding of a file of which another is kept.
  case rendition
  /// What a picture shows, in words.
  case description
  /// A picture within a text.
  case pictureInText
  /// A poll.
  case poll
  /// What stands behind a link: its title and picture.
  case card
  /// That a post is not for everybody to see.
  case sensitive
  /// A post that somebody else passed on: the post is kept, not who passed it on.
  case boost
  /// A post that was removed: all of it.
  case removed
  /// A comment: all of it.
  case comment
  /// A picture of an author.
  case avatar
  /// In which language a post is.
  case language
  /// A field of a row for which no column is named.
  case column

  private var words: (one: String, many: String) {
    switch self {
    case .file: ("file of another kind", "files of another kind")
    case .sound: ("sound file", "sound files")
    case .rendition: ("further rendition", "further renditions")
    case .description: ("description of a picture", "descriptions of pictures")
    case .pictureInText: ("picture within a text", "pictures within texts")
    case .poll: ("poll", "polls")
    case .card: ("link preview", "link previews")
    case .sensitive: ("mark as sensitive", "marks as sensitive")
    case .boost: ("name of who boosted", "names of who boosted")
    case .removed: ("removed post", "removed posts")
    case .comment: ("comment", "comments")
    case .avatar: ("avatar", "avatars")
    case .language: ("language", "languages")
    case .column: ("field of a column that is not mapped", "fields of columns that are not mapped")
    }
  }

  /// So many of it, in words.
  func text(_ count: Int) -> String { "\(count) \(count == 1 ? words.one : words.many)" }
}

/// How often each thing was not kept.
public struct Omissions: Hashable, Sendable, CustomStringConvertible {
  private var counts: [Omission: Int] = [:]

  /// Nothing.
  public init() {}

  /// Whether everything was kept.
  public var isEmpty: Bool { counts.isEmpty }

  /// How often it was not kept.
  public subscript(_ omission: Omission) -> Int { counts[omission] ?? 0 }

  /// Counts something, so many times.
  public mutating func add(_ omission: Omission, _ count: Int = 1) {
    if count > 0 { counts[omission, default: 0] += count }
  }

  /// Counts what others counted, too.
  public mutating func add(_ others: Omissions) {
    for (omission, count) in others.counts { add(omission, count) }
  }

  /// `3 sound files, 1 poll`, in the order of the cases.
  public var description: String {
    Omission.allCases.filter { self[$0] > 0 }.map { $0.text(self[$0]) }.joined(separator: ", ")
  }
}
