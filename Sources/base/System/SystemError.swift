import CLinux
import Glibc

/// An error of a system call: which one, why, and for what purpose.
public struct SystemError: Error, Sendable, Hashable {
  /// The C function's name.
  public let call: String
  /// The value of `errno`.
  public let code: Int32
  /// The purpose of the call, for example `listen on 127.0.0.1:8080`.
  public let purpose: String

  /// An error with the current `errno`, or another one.
  public init(call: String, purpose: String, code: Int32 = errno) {
    self.call = call
    self.code = code
    self.purpose = purpose
  }

  /// The reason in the system's words: `Address already in use`.
  public var reason: String { String(cString: strerror(code)) }
}

extension SystemError {
  /// Whether the disk or the user's quota is full.
  public var isFullDisk: Bool { code == ENOSPC || code == EDQUOT }
  /// Whether there is no file with that name.
  public var isAbsence: Bool { code == ENOENT }
  /// Whether the user lacks the permission, or the file system is read-only.
  public var isRefusal: Bool { code == EACCES || code == EPERM || code == EROFS }
}

extension SystemError: CustomStringConvertible {
  /// For example `cannot listen on 127.0.0.1:8080: Address already in use (bind)`.
  public var description: String { "cannot \(purpose): \(reason) (\(call))" }
}

// `CLinux` is imported for the error numbers, which belong to it if its header is read before Glibc's.

/// The outcome of a call on a non-blocking descriptor that did not fail.
public enum Outcome<Value: Sendable>: Sendable {
  /// The call is done.
  case done(Value)
  /// The call would have blocked.
  case wouldBlock
}

/// Repeats a call while signals interrupt it, then turns -1 into an error.
@discardableResult @inlinable
public func retrying<Number: FixedWidthInteger>(
  _ call: String, _ purpose: @autoclosure () -> String, _ body: () -> Number
) throws(SystemError) -> Number {
  while true {
    let result = body()
    if result != -1 { return result }
    let code = errno
    if code != EINTR { throw SystemError(call: call, purpose: purpose(), code: code) }
  }
}

/// The same, but returns `.wouldBlock` for a call that would block.
@inlinable
public func retryingOrBlocking<Number: FixedWidthInteger & Sendable>(
  _ call: String, _ purpose: @autoclosure () -> String, _ body: () -> Number
) throws(SystemError) -> Outcome<Number> {
  while true {
    let result = body()
    if result != -1 { return .done(result) }
    let code = errno
    if code == EAGAIN || code == EWOULDBLOCK { return .wouldBlock }
    if code != EINTR { throw SystemError(call: call, purpose: purpose(), code: code) }
  }
}
