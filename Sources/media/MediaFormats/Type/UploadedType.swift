/// The type of a file that is to be taken in: a picture, a clip or sound, told from its content, of which its name
/// gives no other idea.
package struct UploadedType: Sendable, Hashable {
  /// What it is.
  package let type: MediaType

  /// Looks at a file that begins with `head`, its first `MediaType.headBytes` bytes or all it has, and is to have
  /// this name.
  ///
  /// - Throws: `UploadedTypeError`.
  package init(head: [UInt8], name: String) throws(UploadedTypeError) {
    guard !head.isEmpty else { throw .empty }
    let type = MediaType(head: head, name: name)
    guard let extensions = Self.extensions[type.value] else {
      throw .notTaken(words: ContentWords(head, type).text)
    }
    let fileExtension = MediaName(name).fileExtension
    guard extensions.contains(fileExtension) else {
      throw .otherExtension(fileExtension, type: type, expected: extensions)
    }
    self.type = type
  }

  /// The same, of a file that is to be called as its content is.
  ///
  /// - Throws: `UploadedTypeError`.
  package init(head: [UInt8]) throws(UploadedTypeError) {
    let known = MediaType(head: head, name: "")
    let fileExtension = Self.extensions[known.value]?.first ?? ""
    try self.init(head: head, name: "x." + fileExtension)
  }

  /// What usually stands behind the last dot of such a file's name.
  package var usualExtension: String { Self.extensions[type.value]?.first ?? "" }

  /// The type of which files with this extension usually are.
  static func usualType(ofExtension fileExtension: String) -> String? {
    // Of several, the one that has it as its usual one; of several of these, the last: audio/ogg, not application/ogg.
    var best: (type: String, place: Int)?
    for (type, names) in extensions {
      guard let place = names.firstIndex(of: fileExtension) else { continue }
      if let best, best.place < place || best.place == place && best.type > type { continue }
      best = (type, place)
    }
    return best?.type
  }

  /// The types that are taken in, with what may stand behind the last dot of a name, the usual first: none of them runs
  /// anything, wherever it is opened.
  private static let extensions: [String: [String]] = [
    "image/jpeg": ["jpg", "jpeg", "jpe", "jfif"], "image/png": ["png", "apng"],
    "image/gif": ["gif"], "image/webp": ["webp"], "image/avif": ["avif", "avifs"],
    "image/heic": ["heic", "heif", "hif"], "image/heic-sequence": ["heics", "heic", "heif"],
    "image/heif": ["heif", "heic", "hif"], "image/heif-sequence": ["heifs", "heif"],
    "image/jxl": ["jxl"], "image/bmp": ["bmp", "dib"],
    "video/mp4": ["mp4", "m4v", "f4v"], "audio/mp4": ["m4a", "m4b", "f4a", "mp4"],
    "video/quicktime": ["mov", "qt"], "video/3gpp": ["3gp"], "video/3gpp2": ["3g2"],
    "video/webm": ["webm"], "audio/webm": ["weba", "webm"], "video/matroska": ["mkv"],
    "audio/matroska": ["mka"], "video/ogg": ["ogv", "ogg"],
    "audio/ogg": ["ogg", "oga", "opus", "spx"], "application/ogg": ["ogg", "ogx"],
    "audio/mpeg": ["mp3"], "audio/aac": ["aac"], "audio/flac": ["flac"], "audio/wav": ["wav"],
    "video/mp2t": ["ts", "m2ts", "mts"],
  ]
}

/// Why a file is not taken in.
package enum UploadedTypeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It has no bytes.
  case empty
  /// It is no picture, clip or sound that is known: what it is, with its article.
  case notTaken(words: String)
  /// Its name says that it is something else.
  case otherExtension(String, type: MediaType, expected: [String])

  /// A sentence.
  package var description: String {
    switch self {
    case .empty: "The file is empty."
    case .notTaken(let words):
      "The file is \(words): only pictures, clips and sound are accepted, by their content."
    case .otherExtension(let other, let type, let expected):
      "The file is \(type.value), but its name has "
        + (other.isEmpty ? "no extension" : "the extension \".\(other.prefix(40))\"") + ": use "
        + expected.map { "." + $0 }.joined(separator: ", ") + "."
    }
  }
}

/// What a content is that is not taken in, in words for the one who sent it.
private struct ContentWords {
  let text: String

  init(_ bytes: [UInt8], _ type: MediaType) {
    let head = MediaHead(bytes)
    let start = String(decoding: bytes.prefix(MediaType.headBytes), as: UTF8.self).lowercased()
    if head.beginsLikeMarkup {
      text =
        start.contains("<svg")
        ? "an SVG document (image/svg+xml), which may run scripts"
        : start.contains("<!doctype html") || start.contains("<html") || start.contains("<script")
          ? "an HTML document, which may run scripts" : "markup (XML or HTML)"
    } else if type != .unknown {
      text = "of type \(type.value)"
    } else if let (_, words) = Self.signatures.first(where: { head.holds($0.0) }) {
      text = words
    } else if bytes.allSatisfy({ $0 >= 0x20 || [0x09, 0x0a, 0x0c, 0x0d].contains($0) }) {
      text = "text, or a script such as JavaScript"
    } else {
      text = "of unknown type"
    }
  }

  private static let signatures = [
    ("%PDF", "a PDF document"), ("PK\u{3}\u{4}", "a ZIP archive"), ("\u{7f}ELF", "a program (ELF)"),
    ("MZ", "a program (Windows)"), ("#!", "a script"), ("\0asm", "a WebAssembly module"),
    ("SQLite format 3", "an SQLite database"), ("\u{1f}", "compressed data"),
  ]
}

/// The name of a file, as far as it says what the file is.
package struct UploadedName: Sendable {
  private let fileExtension: String

  /// A name.
  package init(_ name: String) { fileExtension = MediaName(name).fileExtension }

  /// What files of this name usually are; nil for a type that is not accepted.
  package var usualType: String? { UploadedType.usualType(ofExtension: fileExtension) }
}
