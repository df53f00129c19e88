import Feed

/// The words of texts, as every store indexes and compares them, so that all give the same answers.
///
/// A word is a run of letters, digits and marks (Unicode's general categories L, N and M) in lower case, Latin, Greek
/// and Cyrillic letters without their diacritics (`baseLetters`), full-width ASCII as ASCII. Scripts that are written
/// without spaces have no such runs: each of their characters is a word, and so is each emoji.
package struct SearchWords {
  struct Word {
    /// Where it lies in `bytes`.
    let range: Range<Int>
    /// The text that it is from, by its place among those that were added: a phrase lies within one.
    let field: Int
    /// It is one character of a script without spaces, or an emoji, directly behind another such.
    let isJoined: Bool
    /// How many letters it has, marks included.
    let letters: Int
    let isSingle: Bool
  }

  /// The words' UTF-8.
  private(set) var bytes: [UInt8] = []
  private(set) var words: [Word] = []
  private var field = 0
  /// Whether nothing stands behind the last word of the text that was added last.
  private(set) var endsInWord = false

  // Of the word that is being read.
  private var start = 0
  private var letters = 0
  /// The last thing read was a word of one character.
  private var isBehindSingle = false

  init() {}

  /// Those of a post that are looked for: its title, its text, its tags, its author's name.
  package init(of post: Post) {
    if let title = post.title { add(title) }
    if let text = post.text { add(text) }
    for tag in post.tags { add(tag) }
    if let name = post.author?.name { add(name) }
  }

  /// Whether two posts have the same words for sure.
  package static func areSame(_ post: Post, _ other: Post) -> Bool {
    post.title.isSame(as: other.title) && post.text.isSame(as: other.text)
      && post.tags.isSame(as: other.tags)
      && (post.author?.name).isSame(as: other.author?.name)
  }

  /// Each word once, with a space between two: what databases index. None has white space or ASCII punctuation in it.
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
    // Soft hyphens, joiners, directions: within a word.
    case .format: break
    default: end()
    }
  }

  private mutating func addLower(_ scalar: Unicode.Scalar) {
    switch scalar.value {
    // Diacritics; selectors of a letter's variant.
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

  /// Neither letter nor digit: the word ends, and what follows does not join it.
  private mutating func end() {
    close()
    isBehindSingle = false
  }

  /// Ends the word that is being read, if any; a long one is cut, in texts and in what is looked for alike.
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

  /// Of a script without spaces between words, or an emoji.
  private static func isSingle(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Thai and Lao, Burmese, Khmer, Hiragana, Katakana but for its dot, half-width Katakana.
    case 0x0e01...0x0e4e, 0x0e81...0x0ecd, 0x1000...0x103f, 0x1780...0x17d3, 0x3041...0x309f,
      0x30a1...0x30fa, 0x30fc...0x30ff, 0xff66...0xff9f:
      return true
    case 0..<0x2000: return false
    default:
      return scalar.properties.isIdeographic || scalar.properties.isEmojiPresentation
    }
  }

  /// By lower-case letters with diacritics, the letters without: by their canonical decompositions (Unicode Standard
  /// Annex 15), and σ of ς.
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
