import Glibc

/// A file that a log goes to, and that somebody may move away (logrotate(8)).
public final class LogFile: Sendable {
  /// Why it cannot be written.
  public struct Failure: Error, CustomStringConvertible {
    /// The file.
    public let path: String
    /// `errno` as it was then.
    public let code: Int32

    /// For example `cannot write the log /var/log/a.log: Permission denied`.
    public var description: String {
      "cannot write the log \(path): \(String(cString: strerror(code)))"
    }
  }

  /// Where it is.
  public let path: String
  /// Stays the same number, whichever file it stands for.
  public let descriptor: Int32

  /// Opens the file to write at its end, making it where there is none.
  public init(path: String) throws(Failure) {
    self.path = path
    descriptor = try Self.open(path)
  }

  deinit { close(descriptor) }

  /// Goes on in whichever file bears the name by now, a new one if none does.
  ///
  /// Where that fails, the log goes on in the old one.
  public func reopen() throws(Failure) {
    let new = try Self.open(path)
    defer { close(new) }
    guard dup2(new, descriptor) >= 0 else { throw Failure(path: path, code: errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  private static func open(_ path: String) throws(Failure) -> Int32 {
    let descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
    guard descriptor >= 0 else { throw Failure(path: path, code: errno) }
    return descriptor
  }
}
