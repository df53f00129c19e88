import Glibc
import Synchronization

/// A regular file that is open for reading; closed when nobody holds it any more.
///
/// It holds the file and not its name: what it says and reads stays that of one file, whatever is
/// renamed, replaced or deleted meanwhile.
public final class OpenFile: Sendable {
  private static let openFiles = Atomic<Int>(0)

  /// How many of them the process holds.
  public static var openCount: Int { openFiles.load(ordering: .relaxed) }

  /// The descriptor's number.
  public let descriptor: Int32
  /// The file's size when it was opened.
  public let size: Int
  /// When the file's content last changed, as of its opening.
  public let modified: Moment

  /// Takes over a descriptor that is open for reading; nil, with the descriptor closed, if it is
  /// not one of a regular file.
  public convenience init?(taking descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    self.init(taking: descriptor, status)
  }

  /// Takes over a descriptor of a regular file with what `fstat(2)` says of it.
  init(taking descriptor: Int32, _ status: stat) {
    self.descriptor = descriptor
    size = Int(status.st_size)
    modified = Moment(status.st_mtim)
    Self.openFiles.add(1, ordering: .relaxed)
  }

  deinit {
    close(descriptor)
    Self.openFiles.subtract(1, ordering: .relaxed)
  }

  /// `pread(2)`: up to `count` bytes from `offset` on, fewer only at the end of the file.
  public func read(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let done = try retrying("pread", "read a file") {
        bytes.withUnsafeMutableBytes {
          pread(descriptor, $0.baseAddress.map { $0 + filled }, count - filled, offset + filled)
        }
      }
      if done == 0 { break }
      filled += done
    }
    bytes.removeLast(count - filled)
    return bytes
  }
}
