/// The type of a file to be accepted: a picture, a clip or sound, determined by its content; the
/// name must not contradict it.
package struct UploadedType: Sendable, Hashable {
  /// The type.
  package let type: MediaType

  /// Determines the type of a file with this name that begins with `head`: its first
  /// `MediaType.headBytes` bytes, or all of it.
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

  /// Determines the type of a file that will get its name from its content.
  ///
  /// - Throws: `UploadedTypeError`.
  package init(head: [UInt8]) throws(UploadedTypeError) {
    let known = MediaType(head: head, name: "")
    let fileExtension = Self.extensions[known.value]?.first ?? ""
    try self.init(head: head, name: "x." + fileExtension)
  }

  /// The usual extension of such a file's name, without the dot.
  package var usualExtension: String { Self.extensions[type.value]?.first ?? "" }

  /// Returns the usual type of files with this extension.
  static func usualType(ofExtension fileExtension: String) -> String? {
    // Of several types, the one for which it is the most usual; of equal ones, the last:
    // audio/ogg, not application/ogg.
    var best: (type: String, place: Int)?
    for (type, names) in extensions {
      guard let place = names.firstIndex(of: fileExtension) else { continue }
      if let best, best.place < place || best.place == place && best.type > type { continue }
      best = (type, place)
    }
    return best?.type
  }

  /// The accepted types with the extensions of their names, the usual one first. None of them runs a
  /// script, wherever it is opened.
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

/// The reason why a file is not accepted.
package enum UploadedTypeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file has no bytes.
  case empty
  /// The file is not a known picture, clip or sound; the words say what it is, with an article.
  case notTaken(words: String)
  /// The extension belongs to another type.
  case otherExtension(String, type: MediaType, expected: [String])

  /// The error as a sentence.
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

/// The words that tell the sender what a refused content is.
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

/// A file's name, as an indication of its type.
package struct UploadedName: Sendable {
  private let fileExtension: String

  /// Creates a name.
  package init(_ name: String) { fileExtension = MediaName(name).fileExtension }

  /// The usual type of files with this name; nil for a type that is not accepted.
  package var usualType: String? { UploadedType.usualType(ofExtension: fileExtension) }
}
