import Feed

/// The words of texts. Every store indexes and compares these, so all stores give the same answers.
///
/// A word is a run of letters, digits and marks (Unicode general categories L, N and M), in lower case,
/// with Latin, Greek and Cyrillic letters without their diacritics (`baseLetters`) and full-width ASCII as
/// ASCII. Scripts without spaces have no such runs: each of their characters is a word, and so is each
/// emoji.
package struct SearchWords {
  struct Word {
    /// The range of the word in `bytes`.
    let range: Range<Int>
    /// The index of its text among those that were added: a phrase lies within one.
    let field: Int
    /// Whether it is a single-character word directly after another one.
    let isJoined: Bool
    /// The number of letters, including marks.
    let letters: Int
    let isSingle: Bool
  }

  /// The UTF-8 of the words.
  private(set) var bytes: [UInt8] = []
  private(set) var words: [Word] = []
  private var field = 0
  /// Whether the last text that was added ends with a word.
  private(set) var endsInWord = false

  // State of the word that is being read.
  private var start = 0
  private var letters = 0
  /// Whether a single-character word directly precedes.
  private var isBehindSingle = false

  init() {}

  /// Collects the searchable words of a post: of its title, its text, its tags, its author's name.
  package init(of post: Post) {
    if let title = post.title { add(title) }
    if let text = post.text { add(text) }
    for tag in post.tags { add(tag) }
    if let name = post.author?.name { add(name) }
  }

  /// Whether two posts certainly have the same words.
  package static func areSame(_ post: Post, _ other: Post) -> Bool {
    post.title.isSame(as: other.title) && post.text.isSame(as: other.text)
      && post.tags.isSame(as: other.tags)
      && (post.author?.name).isSame(as: other.author?.name)
  }

  /// The distinct words, separated by spaces, for a database to index. No word contains white space or
  /// ASCII punctuation.
  package var indexed: String {
    let ranges = words.map(\.range).sorted {
      bytes[$0].lexicographicallyPrecedes(bytes[$1])
    }
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count + ranges.count)
    var last: Range<Int>?
    for range in ranges {
      if let last, bytes[last].elementsEqual(bytes[range]) { continue }
      if last != nil { text.append(UInt8(ascii: " ")) }
      text += bytes[range]
      last = range
    }
    return String(decoding: text, as: UTF8.self)
  }

  // MARK: Reading

  mutating func add(_ text: String) {
    for scalar in text.unicodeScalars { add(scalar) }
    endsInWord = bytes.count > start
    close()
    isBehindSingle = false
    field += 1
  }

  private mutating func add(_ scalar: Unicode.Scalar) {
    // Full-width forms of ASCII.
    let value =
      (0xff01...0xff5e).contains(scalar.value) ? scalar.value - 0xfee0 : scalar.value
    if value < 0x80 {
      switch UInt8(truncatingIfNeeded: value) {
      case let byte where (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte):
        append(byte)
      case let byte where (0x41...0x5a).contains(byte): append(byte | 0x20)
      default: end()
      }
    } else if Self.isSingle(scalar) {
      close()
      append(scalar)
      letters = 1
      close(isSingle: true)
    } else {
      addLetter(scalar)
    }
  }

  private mutating func append(_ byte: UInt8) {
    bytes.append(byte)
    letters += 1
  }

  private mutating func addLetter(_ scalar: Unicode.Scalar) {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark:
      for lower in scalar.properties.lowercaseMapping.unicodeScalars { addLower(lower) }
    // Soft hyphens, joiners and directional marks do not end a word.
    case .format: break
    default: end()
    }
  }

  private mutating func addLower(_ scalar: Unicode.Scalar) {
    switch scalar.value {
    // Diacritics and variation selectors.
    case 0x300...0x36f, 0xfe00...0xfe0f: return
    // ß
    case 0xdf:
      append(UInt8(ascii: "s"))
      append(UInt8(ascii: "s"))
    default:
      append(Self.baseLetters[scalar] ?? scalar)
      letters += 1
    }
  }

  private mutating func append(_ scalar: Unicode.Scalar) {
    if let encoded = UTF8.encode(scalar) { bytes += encoded }
  }

  /// Ends the word at a character that is neither letter nor digit; the next word does not join it.
  private mutating func end() {
    close()
    isBehindSingle = false
  }

  /// Ends the current word, if any. A long word is cut, in texts and in queries alike.
  private mutating func close(isSingle: Bool = false) {
    defer { (start, letters) = (bytes.count, 0) }
    guard bytes.count > start else { return }
    if bytes.count - start > RecordLimits.searchWordBytes {
      var end = start + RecordLimits.searchWordBytes
      while UTF8.isContinuation(bytes[end]) { end -= 1 }
      bytes.removeSubrange(end...)
    }
    words.append(
      Word(
        range: start..<bytes.count, field: field, isJoined: isSingle && isBehindSingle,
        letters: letters, isSingle: isSingle))
    isBehindSingle = isSingle
  }

  // MARK: Characters

  /// Whether the character is an emoji or of a script without spaces between words.
  private static func isSingle(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Thai and Lao, Burmese, Khmer, Hiragana, Katakana except its middle dot, half-width Katakana.
    case 0x0e01...0x0e4e, 0x0e81...0x0ecd, 0x1000...0x103f, 0x1780...0x17d3, 0x3041...0x309f,
      0x30a1...0x30fa, 0x30fc...0x30ff, 0xff66...0xff9f:
      return true
    case 0..<0x2000: return false
    default:
      return scalar.properties.isIdeographic || scalar.properties.isEmojiPresentation
    }
  }

  /// The base letters of lower-case letters with diacritics, by their canonical decompositions (Unicode
  /// Standard Annex 15), and σ for ς.
  private static let baseLetters: [Unicode.Scalar: Unicode.Scalar] = {
    var letters: [Unicode.Scalar: Unicode.Scalar] = [:]
    for (base, others) in families {
      for other in others.unicodeScalars { letters[other] = base }
    }
    return letters
  }()

  private static let families: [(Unicode.Scalar, String)] = [
    ("a", "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ"),
    ("b", "ḃḅḇ"),
    ("c", "çćĉċčḉ"),
    ("d", "ďḋḍḏḑḓ"),
    ("e", "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"),
    ("f", "ḟ"),
    ("g", "ĝğġģǧǵḡ"),
    ("h", "ĥȟḣḥḧḩḫẖ"),
    ("i", "ìíîïĩīĭįǐȉȋḭḯỉị"),
    ("j", "ĵǰ"),
    ("k", "ķǩḱḳḵ"),
    ("l", "ĺļľḷḹḻḽ"),
    ("m", "ḿṁṃ"),
    ("n", "ñńņňǹṅṇṉṋ"),
    ("o", "òóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"),
    ("p", "ṕṗ"),
    ("r", "ŕŗřȑȓṙṛṝṟ"),
    ("s", "śŝşšșṡṣṥṧṩ"),
    ("t", "ţťțṫṭṯṱẗ"),
    ("u", "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"),
    ("v", "ṽṿ"),
    ("w", "ŵẁẃẅẇẉẘ"),
    ("x", "ẋẍ"),
    ("y", "ýÿŷȳẏẙỳỵỷỹ"),
    ("z", "źżžẑẓẕ"),
    ("æ", "ǣǽ"),
    ("ø", "ǿ"),
    ("ſ", "ẛ"),
    ("ʒ", "ǯ"),
    ("α", "άἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ"),
    ("ε", "έἐἑἒἓἔἕὲέ"),
    ("η", "ήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ"),
    ("ι", "ΐίϊἰἱἲἳἴἵἶἷὶίῐῑῒΐῖῗ"),
    ("ο", "όὀὁὂὃὄὅὸό"),
    ("ρ", "ῤῥ"),
    ("σ", "ς"),
    ("υ", "ΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ"),
    ("ω", "ώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ"),
    ("ϒ", "ϓϔ"),
    ("а", "ӑӓ"),
    ("г", "ѓ"),
    ("е", "ѐёӗ"),
    ("ж", "ӂӝ"),
    ("з", "ӟ"),
    ("и", "йѝӣӥ"),
    ("к", "ќ"),
    ("о", "ӧ"),
    ("у", "ўӯӱӳ"),
    ("ч", "ӵ"),
    ("ы", "ӹ"),
    ("э", "ӭ"),
    ("і", "ї"),
    ("ѵ", "ѷ"),
    ("ә", "ӛ"),
    ("ө", "ӫ"),
  ]
}
