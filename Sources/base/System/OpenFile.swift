import Glibc
import Synchronization

/// A regular file that is open for reading; closed with its last reference.
///
/// It holds the file and not its name: what it says and reads stays that of one file, whatever is
/// renamed, replaced or deleted meanwhile.
public final class OpenFile: Sendable {
  private static let openFiles = Atomic<Int>(0)

  /// How many of them the process holds.
  public static var openCount: Int { openFiles.load(ordering: .relaxed) }

  let file: Descriptor
  /// Which file it is, whatever its name.
  public let number: FileStatus.Number
  /// The file's size when it was opened.
  public let size: Int
  /// When the file's content last changed, as of its opening.
  public let modified: Moment
  /// When anything of the file last changed, as of its opening: a user cannot set it.
  public let changed: Moment

  /// The file of a descriptor that is open for reading; nil if that is not a regular one.
  public convenience init?(_ file: Descriptor) {
    guard let status = try? file.status, status.isRegularFile else { return nil }
    self.init(file, status)
  }

  /// The regular file of a descriptor with what is said of it.
  init(_ file: Descriptor, _ status: FileStatus) {
    self.file = file
    number = status.number
    size = status.bytes
    modified = status.modified
    changed = status.changed
    Self.openFiles.add(1, ordering: .relaxed)
  }

  deinit { Self.openFiles.subtract(1, ordering: .relaxed) }

  /// What is said of it now.
  public var status: FileStatus { get throws(SystemError) { try file.status } }

  /// Whether it has the size and the times of change that it had when it was opened.
  public var isAsOpened: Bool {
    get throws(SystemError) {
      let status = try status
      return status.bytes == size && status.changed == changed
    }
  }

  /// The descriptor's number.
  public var descriptor: Int32 { file.number }

  /// `pread(2)`: up to `count` bytes from `offset` on, fewer only at the end of the file.
  public func read(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
    try file.read(at: offset, count: count)
  }
}
