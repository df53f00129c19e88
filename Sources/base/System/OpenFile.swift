import Glibc
import Synchronization

/// A regular file that is open for reading; closed with its last reference.
///
/// It holds the file instead of its name: its metadata and bytes stay those of one file, even if the name is
/// renamed, replaced or deleted meanwhile.
public final class OpenFile: Sendable {
  private static let openFiles = Atomic<Int>(0)

  /// The number of such files that the process holds.
  public static var openCount: Int { openFiles.load(ordering: .relaxed) }

  let file: Descriptor
  /// The identity of the file, whatever its name.
  public let number: FileStatus.Number
  /// The file's size when it was opened.
  public let size: Int
  /// When the file's content last changed, as of its opening.
  public let modified: Moment
  /// When the file's content or metadata last changed, as of its opening; no user can set it.
  public let changed: Moment

  /// The file of a descriptor that is open for reading; nil if it is not a regular file.
  public convenience init?(_ file: Descriptor) {
    guard let status = try? file.status, status.isRegularFile else { return nil }
    self.init(file, status)
  }

  /// The regular file of a descriptor, with its metadata.
  init(_ file: Descriptor, _ status: FileStatus) {
    self.file = file
    number = status.number
    size = status.bytes
    modified = status.modified
    changed = status.changed
    Self.openFiles.add(1, ordering: .relaxed)
  }

  deinit { Self.openFiles.subtract(1, ordering: .relaxed) }

  /// The current metadata of the file.
  public var status: FileStatus { get throws(SystemError) { try file.status } }

  /// Whether it still has the size and the time of change of its opening.
  public var isAsOpened: Bool {
    get throws(SystemError) {
      let status = try status
      return status.bytes == size && status.changed == changed
    }
  }

  /// The descriptor's number.
  public var descriptor: Int32 { file.number }

  /// Reads up to `count` bytes from `offset` on, fewer only at the end of the file (`pread(2)`).
  public func read(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
    try file.read(at: offset, count: count)
  }
}
