import System

extension DatabaseFile {
  /// The folder in which a path lies, as dirname(3) has it: `.` for a name alone.
  ///
  /// Foundation's `deletingLastPathComponent` ends the process at a path of one character. Bytes are
  /// looked at and not characters: a slash may have an accent of the next name upon it.
  public static func folder(of path: String) -> String {
    let slash = UInt8(ascii: "/")
    var bytes = Array(path.utf8)[...]
    func drop(while condition: (UInt8) -> Bool) {
      while let last = bytes.last, condition(last) { bytes.removeLast() }
    }
    drop { $0 == slash }
    drop { $0 != slash }
    drop { $0 == slash }
    if !bytes.isEmpty { return String(decoding: bytes, as: UTF8.self) }
    return path.utf8.first == slash ? "/" : "."
  }

  /// The path of the file itself where the path is a link to it: SQLite keeps the WAL and its index
  /// beside that (https://sqlite.org/howtocorrupt.html, section 2.5). A path to nothing stays as it is.
  public static func resolvingLinks(_ path: String) -> String {
    FileSystem.resolvingLinks(path) ?? path
  }
}
