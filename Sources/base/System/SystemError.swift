import CLinux
import Glibc

/// A system call that failed: which one, why, and for what.
public struct SystemError: Error, Sendable, Hashable {
  /// The C function's name.
  public let call: String
  /// `errno` as it was then.
  public let code: Int32
  /// What was to be done, for example `listen on 127.0.0.1:8080`.
  public let purpose: String

  /// An error with the current `errno`, or another one.
  public init(call: String, purpose: String, code: Int32 = errno) {
    self.call = call
    self.code = code
    self.purpose = purpose
  }

  /// Why, as the system says it: `Address already in use`.
  public var reason: String { String(cString: strerror(code)) }
}

extension SystemError {
  /// Whether the disk is full, or the user's share of it.
  public var isFullDisk: Bool { code == ENOSPC || code == EDQUOT }
  /// Whether nothing has that name.
  public var isAbsence: Bool { code == ENOENT }
  /// Whether this user may not do it, or the file system is read only.
  public var isRefusal: Bool { code == EACCES || code == EPERM || code == EROFS }
}

extension SystemError: CustomStringConvertible {
  /// For example `cannot listen on 127.0.0.1:8080: Address already in use (bind)`.
  public var description: String { "cannot \(purpose): \(reason) (\(call))" }
}

// The numbers of errors are that module's where its header is read before Glibc's.

/// What a call on a non-blocking descriptor came to, where that is not an error.
public enum Outcome<Value: Sendable>: Sendable {
  /// It was done.
  case done(Value)
  /// It would have had to wait.
  case wouldBlock
}

/// Calls until no signal interrupts, then turns -1 into an error.
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

/// The same, but a call that would block is a value.
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
