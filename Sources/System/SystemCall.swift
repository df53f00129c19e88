// The numbers of errors are that module's where its header is read before Glibc's.
import CLinux
import Glibc

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
