import System

/// A file that a log goes to, and that logrotate(8) may move away.
public final class LogFile: Sendable {
  /// Why it cannot be written.
  public struct Failure: Error, CustomStringConvertible {
    /// The file.
    public let path: String
    /// What the system says.
    public let cause: SystemError

    /// For example `cannot write the log /var/log/a.log: Permission denied`.
    public var description: String { "cannot write the log \(path): \(cause.reason)" }
  }

  /// Where it is.
  public let path: String
  private let file: Descriptor

  /// Opens the file to write at its end, and makes it if it is absent.
  public init(path: String) throws(Failure) {
    self.path = path
    file = try Self.open(path)
  }

  /// Stays the same number, whichever file it stands for.
  public var descriptor: Int32 { file.number }

  /// Goes on in whichever file bears the name by now, a new one if none does.
  ///
  /// Where that fails, the log goes on in the old one.
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
