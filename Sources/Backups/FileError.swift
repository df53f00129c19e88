import Glibc

/// A file that could not be handled: what was to be done, and why it could not.
public struct FileError: Error, Hashable, Sendable {
  /// For example `write /backups/feed.sqlite.partial`.
  public let purpose: String
  /// `errno` as it was then.
  public let code: Int32

  init(_ purpose: String, code: Int32 = errno) {
    self.purpose = purpose
    self.code = code
  }
}

extension FileError: CustomStringConvertible {
  /// For example `cannot write /backups/feed.sqlite.partial: No space left on device`.
  public var description: String { "cannot \(purpose): \(String(cString: strerror(code)))" }
}

/// Calls until no signal interrupts, then turns -1 into an error.
@discardableResult
func retrying<Number: FixedWidthInteger>(
  _ purpose: @autoclosure () -> String, _ body: () -> Number
) throws(FileError) -> Number {
  while true {
    let result = body()
    if result != -1 { return result }
    let code = errno
    if code != EINTR { throw FileError(purpose(), code: code) }
  }
}
