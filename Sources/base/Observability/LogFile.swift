import System

/// A log file, which logrotate(8) may move away.
public final class LogFile: Sendable {
  /// An error of writing the log.
  public struct Failure: Error, CustomStringConvertible {
    /// The file's path.
    public let path: String
    /// The system's error.
    public let cause: SystemError

    /// For example `cannot write the log /var/log/a.log: Permission denied`.
    public var description: String { "cannot write the log \(path): \(cause.reason)" }
  }

  /// The file's path.
  public let path: String
  private let file: Descriptor

  /// Opens the file for appending, and makes it if it is absent.
  public init(path: String) throws(Failure) {
    self.path = path
    file = try Self.open(path)
  }

  /// The descriptor's number, which stays the same whichever file is open.
  public var descriptor: Int32 { file.number }

  /// Continues in the file that has the name now, a new one if there is none.
  ///
  /// If that fails, the log continues in the old file.
  public func reopen() throws(Failure) {
    let new = try Self.open(path)
    do throws(SystemError) {
      try file.become(new)
    } catch {
      throw Failure(path: path, cause: error)
    }
  }

  private static func open(_ path: String) throws(Failure) -> Descriptor {
    do throws(SystemError) {
      return try Descriptor(path, [.appending, .creating], mode: 0o640)
    } catch {
      throw Failure(path: path, cause: error)
    }
  }
}
