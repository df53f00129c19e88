import Glibc

/// A file without a name, for bytes that need not outlive the process: the system writes it to the disk
/// when it needs the memory, and takes it away when it is closed, however the process ends.
///
/// Reads and writes may overlap, from any thread: `pread` and `pwrite` share no position.
public final class ScratchFile: Sendable {
  /// The file to send from: what was written stays as it is unless it is written anew.
  public let file: OpenFile

  /// O_TMPFILE, which is a macro of macros that Swift does not see: __O_TMPFILE | O_DIRECTORY.
  private static let withoutName: Descriptor.Access = [
    .readingAndWriting, .folder, .init(rawValue: 0o20000000),
  ]

  /// Makes one in a folder that can be written to (`O_TMPFILE`, open(2); where the file system has no
  /// such thing, a file whose name is taken away at once).
  public init(folder: String) throws(SystemError) {
    let descriptor: Descriptor
    if let unnamed = try? Descriptor(folder, Self.withoutName) {
      descriptor = unnamed
    } else {
      var name = Array("\(folder)/lookahead-scratch-XXXXXX".utf8CString)
      let number = try retrying("mkstemp", "make a scratch file in \(folder)") { mkstemp(&name) }
      unlink(name)
      _ = fcntl(number, F_SETFD, FD_CLOEXEC)
      descriptor = Descriptor(taking: number, path: folder)
    }
    file = OpenFile(descriptor, try descriptor.status)
  }

  /// How many bytes the file system has left for those without privileges; 0 where it does not say.
  public var freeBytes: Int { (try? file.file.freeBytes) ?? 0 }

  /// `pwrite(2)` of all the bytes.
  public func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
    try file.file.write(bytes[...], at: offset)
  }

  /// `pread(2)` of the pieces, one behind the other; nil where the file ends before one of them does.
  public func read(_ pieces: [Range<Int>]) throws(SystemError) -> [UInt8]? {
    var total = 0
    for piece in pieces { total += piece.count }
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: total) { buffer, count in
      // What is counted was filled: each piece in turn, to its end.
      for piece in pieces {
        do throws(SystemError) {
          let filled = try file.file.fill(buffer.baseAddress.map { $0 + count }, piece)
          guard filled == piece.count else { return }
        } catch {
          failure = error
          return
        }
        count += piece.count
      }
    }
    if let failure { throw failure }
    return bytes.count == total ? bytes : nil
  }
}
