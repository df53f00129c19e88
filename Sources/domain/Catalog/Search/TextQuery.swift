import Feed

/// What is looked for in the texts of posts: words that all have to be there, and phrases.
///
/// Its text has words (`SearchWords`); those between two quotation marks, or behind the last one, stand in this order
/// next to each other, and so do adjacent characters of a script without spaces. The last word, if it has three letters
/// or more and nothing stands behind it, is the beginning of a word.
public struct TextQuery: Hashable, Sendable {
  /// A word in UTF-8.
  package struct Word: Hashable, Sendable {
    package let utf8: [UInt8]
    /// Words that begin so count, too.
    package let isPrefix: Bool

    fileprivate func matches(_ bytes: ArraySlice<UInt8>) -> Bool {
      isPrefix ? bytes.starts(with: utf8) : bytes.elementsEqual(utf8)
    }
  }

  /// Words that stand next to each other.
  private let phrases: [[Word]]

  /// A shorter beginning of a word would find too much.
  private static let prefixLetters = 3

  /// Reads what somebody typed.
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

  /// Its words, each once: a post that it finds has all of them.
  package var words: [Word] {
    var known: Set<Word> = []
    return phrases.joined().filter { known.insert($0).inserted }
  }

  /// Whether the post has all words and phrases. What a database finds by `words` is held against this.
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

/// Why a text cannot be looked for.
public enum TextQueryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It has neither letters nor digits.
  case noWord
  /// It has more words than one query may.
  case tooManyWords(limit: Int)

  /// What is wrong with it, to stand behind its name.
  public var description: String {
    switch self {
    case .noWord: "has no word: it needs a letter, digit or emoji"
    case .tooManyWords(let limit): "has more than \(limit) words"
    }
  }
}

/// The texts of a database that is older than its index of words, or a copy, are still being indexed.
public struct TextIndexUnfinished: Error, Hashable, Sendable {
  /// Posts with numbers below this one are not indexed yet.
  public let below: Int64

  /// An index in which these are missing.
  public init(below: Int64) { self.below = below }
}
