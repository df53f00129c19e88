import Glibc

/// A file without a name, for bytes that need not outlive the process: the system writes it to the disk
/// when it needs the memory, and takes it away when it is closed, however the process ends.
///
/// Reads and writes may overlap, from any thread: `pread` and `pwrite` share no position.
public final class ScratchFile: Sendable {
  /// The file to send from: what was written stays as it is unless it is written anew.
  public let file: OpenFile

  private var descriptor: Int32 { file.descriptor }

  /// Makes one in a folder that can be written to (`O_TMPFILE`, open(2); where the file system has no
  /// such thing, a file whose name is taken away at once).
  public init(folder: String) throws(SystemError) {
    let flags = O_RDWR | O_CLOEXEC
    // O_TMPFILE, which is a macro of macros that Swift does not see: __O_TMPFILE | O_DIRECTORY.
    var descriptor = open(folder, flags | 0o20000000 | O_DIRECTORY, 0o600)
    if descriptor < 0 {
      var name = Array("\(folder)/lookahead-scratch-XXXXXX".utf8CString)
      descriptor = try retrying("mkstemp", "make a scratch file in \(folder)") { mkstemp(&name) }
      unlink(name)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
    guard let file = OpenFile(taking: descriptor) else {
      throw SystemError(call: "fstat", purpose: "look at a scratch file", code: EIO)
    }
    self.file = file
  }

  /// How many bytes the file system has left for those without privileges (`statvfs(3)`); 0 where it does
  /// not say.
  public var freeBytes: Int {
    var status = statvfs()
    guard fstatvfs(descriptor, &status) == 0 else { return 0 }
    return Int(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
  }

  /// `pwrite(2)` of all the bytes.
  public func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      written += try retrying("pwrite", "write to a scratch file") {
        bytes.withUnsafeBytes {
          pwrite(
            descriptor, $0.baseAddress.map { $0 + written }, bytes.count - written,
            off_t(offset + written))
        }
      }
    }
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
          guard try fill(buffer.baseAddress.map { $0 + count }, piece) else { return }
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

  /// Reads a piece to where there is room for it; false where the file ends before.
  private func fill(_ target: UnsafeMutablePointer<UInt8>?, _ piece: Range<Int>)
    throws(SystemError) -> Bool
  {
    var filled = 0
    while filled < piece.count {
      let done = try retrying("pread", "read a scratch file") {
        pread(
          descriptor, target.map { $0 + filled }, piece.count - filled,
          off_t(piece.lowerBound + filled))
      }
      if done == 0 { return false }
      filled += done
    }
    return true
  }
}
