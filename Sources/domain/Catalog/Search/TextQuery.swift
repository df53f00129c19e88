import Feed

/// A query for the texts of posts: words that must all occur, and phrases.
///
/// The query text consists of words (`SearchWords`). Words between two quotation marks, or after an
/// unclosed one, form a phrase, and so do adjacent characters of a script without spaces: the words of a
/// phrase must be adjacent and in this order. The last word is a prefix if it has at least three letters
/// and nothing follows it.
public struct TextQuery: Hashable, Sendable {
  /// A word in UTF-8.
  package struct Word: Hashable, Sendable {
    package let utf8: [UInt8]
    /// Whether words that begin with `utf8` match, too.
    package let isPrefix: Bool

    fileprivate func matches(_ bytes: ArraySlice<UInt8>) -> Bool {
      isPrefix ? bytes.starts(with: utf8) : bytes.elementsEqual(utf8)
    }
  }

  /// The phrases; the words of a phrase must be adjacent.
  private let phrases: [[Word]]

  /// The minimum number of letters of a prefix; a shorter one would match too much.
  private static let prefixLetters = 3

  /// Parses the text that a user typed.
  ///
  /// - Throws: `TextQueryError`.
  public init(_ text: String) throws(TextQueryError) {
    var phrases: [[Word]] = []
    let parts = text.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      let isQuoted = !index.isMultiple(of: 2)
      var found = SearchWords()
      found.add(String(String.UnicodeScalarView(part)))
      for (place, word) in found.words.enumerated() {
        let isLast = index == parts.count - 1 && place == found.words.count - 1
        let isPrefix =
          isLast && found.endsInWord && !isQuoted && !word.isSingle
          && word.letters >= Self.prefixLetters
        let read = Word(utf8: Array(found.bytes[word.range]), isPrefix: isPrefix)
        if place > 0, isQuoted || word.isJoined {
          phrases[phrases.count - 1].append(read)
        } else {
          phrases.append([read])
        }
      }
    }
    guard !phrases.isEmpty else { throw .noWord }
    guard phrases.reduce(0, { $0 + $1.count }) <= RecordLimits.searchWords else {
      throw .tooManyWords(limit: RecordLimits.searchWords)
    }
    self.phrases = phrases
  }

  /// The distinct words: a matching post has all of them.
  package var words: [Word] {
    var known: Set<Word> = []
    return phrases.joined().filter { known.insert($0).inserted }
  }

  /// Whether the post has all words and phrases. Posts that a database finds by `words` are checked by
  /// this.
  public func matches(_ post: Post) -> Bool {
    let text = SearchWords(of: post)
    return phrases.allSatisfy { phrase in
      guard text.words.count >= phrase.count else { return false }
      return (0...(text.words.count - phrase.count)).contains { first in
        text.words[first].field == text.words[first + phrase.count - 1].field
          && phrase.indices.allSatisfy { place in
            phrase[place].matches(text.bytes[text.words[first + place].range])
          }
      }
    }
  }
}

/// The reason why a text cannot be searched for.
public enum TextQueryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text has neither letters nor digits.
  case noWord
  /// The text has more words than a query may have.
  case tooManyWords(limit: Int)

  /// The problem, phrased to follow the name of the query.
  public var description: String {
    switch self {
    case .noWord: "has no word: it needs a letter, digit or emoji"
    case .tooManyWords(let limit): "has more than \(limit) words"
    }
  }
}

/// The index of words is incomplete: a database that is older than its index, or a copy, is still being
/// indexed.
public struct TextIndexUnfinished: Error, Hashable, Sendable {
  /// Posts with numbers below this one are not indexed yet.
  public let below: Int64

  /// Creates the error for an index in which posts below this number are missing.
  public init(below: Int64) { self.below = below }
}
