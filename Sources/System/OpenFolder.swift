import Glibc

/// A folder that is open; closed with the value.
public struct OpenFolder: ~Copyable {
  private let descriptor: Int32

  /// The folder at a path, through links if there are any.
  public init(path: String, purpose: @autoclosure () -> String) throws(SystemError) {
    try self.init(
      descriptor: Self.open(path, in: AT_FDCWD, O_RDONLY | O_DIRECTORY | O_CLOEXEC, purpose()))
  }

  private init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// The folder of this name in this one; `ENOTDIR` if it is a link or anything else.
  public func folder(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> OpenFolder {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    return try OpenFolder(descriptor: Self.open(name, in: descriptor, flags, purpose()))
  }

  /// The regular file of this name in this folder; nil if it is of another kind, `ELOOP` if it is a
  /// link. Neither waits for the other end of a FIFO nor takes a terminal.
  public func file(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> OpenFile? {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    return try OpenFile(taking: Self.open(name, in: descriptor, flags, purpose()))
  }

  /// `openat(2)`, again as long as a signal interrupts it.
  private static func open(
    _ name: String, in folder: Int32, _ flags: Int32, _ purpose: @autoclosure () -> String
  ) throws(SystemError) -> Int32 {
    try retrying("openat", purpose()) { openat(folder, name, flags) }
  }
}
