import Glibc

/// A name for what has none, for programs that tell by its ending what they are to write: a link, alone in a
/// folder of its own, which is taken away with the value. A process that is killed leaves both behind, empty.
public final class ScratchName: Sendable {
  /// The link.
  public let path: String
  private let folder: String

  /// A link of this name, in a new folder within this one, to what is at `target`.
  public init(_ name: String, folder: String, to target: String) throws(SystemError) {
    var template = Array("\(folder)/lookahead-name-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw SystemError(call: "mkdtemp", purpose: "make a folder in \(folder)")
    }
    self.folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    path = "\(self.folder)/\(name)"
    guard symlink(target, path) == 0 else {
      throw SystemError(call: "symlink", purpose: "make a name in \(folder)")
    }
  }

  deinit {
    unlink(path)
    rmdir(folder)
  }
}
