/// A file's name, of which only the extension tells anything.
struct MediaName {
  /// What stands behind the last dot, in lower case (ASCII); empty if there is no dot.
  let fileExtension: String

  init(_ name: String) {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else {
      fileExtension = ""
      return
    }
    fileExtension = String(name[name.utf8.index(after: dot)...]).lowercased()
  }

  /// Whether the extension is one of these.
  func ends(in extensions: String...) -> Bool { extensions.contains(fileExtension) }
}
